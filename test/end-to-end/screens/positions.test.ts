import { describe, expect, test } from 'vitest';
import { INSTRUMENT } from '../../../src/gateway/operations/get-all-tickers.ts';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { POSITION } from '../../../src/gateway/operations/holdings.ts';
import { positionWith } from '../../gateway/wire/rows.ts';
import { startTestApp } from '../../support/app.ts';
import { askGateway, onWire } from '../../support/ask-gateway.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { useSignedInApp } from '../../support/signed-in-app.ts';
import { webSocketClient } from '../live/watcher.ts';

const screen = useSignedInApp();

const listOf = (id: string) => OPEN_POSITIONS.toWire({ positions: [positionWith({ id })] });
const fakePositions = (id: string, more = {}) => screen.fake('getOpenPositions', listOf(id), more);

describe('the newest list of positions', () => {
  test('replaces the older list of a snapshot', async () => {
    await screen.read('{ session { positions { id } } }');
    fakePositions('1');
    await screen.read('{ positions { id } }');
    // The snapshot is requested first and answered last, so its list is older than that of `positions`.
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 400 });
    const slow = screen.read('{ session(maxAge: 0) { positions { id } } }');
    await eventually(() => expect(screen.calls('getSession')).toBe(2));
    await screen.read('{ positions { id } }');
    expect(await slow).toEqual({ session: { positions: [{ id: '1' }] } });
  });

  test('is read again after a write, even if a feed has a fresh list', async () => {
    await using app = await startTestApp({ POSITIONS_POLL_MS: '20000' });
    const token = await app.signIn();
    await using client = webSocketClient(app, token);
    const watcher = client.watch();
    await eventually(() => watcher.events.length > 0, watcher.whileOpen);
    app.sandbox.clearCalls();
    const read = await app.query('{ positions { id } }', { token });
    expect(app.sandbox.calls('getOpenPositions')).toBe(0);
    const order = buying('after a write', '... on OrderAccepted { positions { id } }');
    const { data, extensions } = await app.query(order, { token });
    expect(data.placeOrder.positions).toHaveLength(read.data.positions.length + 1);
    expect(extensions.gateway).toContainEqual(
      expect.objectContaining({ operation: 'getOpenPositions', source: 'call' }),
    );
  });
});

describe('the session', () => {
  test('is cached for its own token, and is not cached with a maximum age of 0', async () => {
    await screen.read('{ session { login } }');
    await screen.read('{ session { login } }', screen.otherToken());
    expect(screen.calls('getSession')).toBe(2);
    await using own = await startTestApp({ SESSION_MAX_AGE_SECONDS: '0' });
    const token = own.sandbox.token(DEMO);
    for (let time = 0; time < 2; time += 1) await own.query('{ session { login } }', { token });
    expect(own.sandbox.calls('getSession')).toBe(2);
  });

  test('with a negative maxAge is BAD_USER_INPUT, and the other fields are answered', async () => {
    const { data, errors } = await screen.ask(
      '{ session(maxAge: -1) { login } orders { id } customerId }',
    );
    const extensions = { code: 'BAD_USER_INPUT', retryable: false, argument: 'maxAge' };
    expect(errors).toMatchObject([{ path: ['session'], extensions }]);
    expect(data).toMatchObject({ session: null, customerId: 'cus_700001' });
    expect(data.orders).toHaveLength(3);
  });

  test('that failed is not cached', async () => {
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'garbage', times: 1 });
    expect((await screen.ask('{ session { login } }')).data).toEqual({ session: null });
    expect(await screen.read('{ session { login } }')).toEqual({ session: { login: '700001' } });
  });
});

const DEMO = { email: 'demo@example.com' };
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

test('the positions of a new snapshot are its own, and those of a snapshot in memory are read by op 12', async () => {
  const positions = '{ session { positions { id symbol profit } } }';
  const first = await screen.read(positions);
  expect(first.session.positions).toHaveLength(6);
  expect(screen.calls('getOpenPositions')).toBe(0);
  expect(await screen.read(positions)).toEqual(first);
  expect(screen.calls('getOpenPositions')).toBe(1);
  expect(screen.calls('getSession')).toBe(1);
});

test.each([
  '{ session { positions { id } } again: session { fetchedAt positions { id } } orders { id } }',
  'query Q { orders { id } ...f } fragment f on Query { session { ... on Session { positions { id } } } }',
  'query Q($no: Boolean = false) { orders { id } session { positions @skip(if: $no) { id } } }',
])('orders are from the snapshot whose positions are read: %s', async (document) => {
  await using app = await startTestApp();
  const token = app.sandbox.token(DEMO);
  const old = await app.query('{ session { balance } orders { id symbol priceOpen } }', { token });
  const [order] = old.data.orders;
  app.sandbox.putPrice(order.symbol, order.priceOpen);
  const { data, errors } = await app.query(document, { token });
  expect(errors).toEqual([]);
  expect(ids(data.session.positions)).toContain(order.id);
  expect(ids(data.orders)).not.toContain(order.id);
  expect(app.sandbox.calls('getSession')).toBe(2);
});

test.each([
  ['900719925474099', '900719925474099'],
  ['9007199254740993', '9007199254740993'],
  ['12345678901234567890123', '12345678901234567890123'],
  ['-9007199254740993', '-9007199254740993'],
  ['1.23e22', null],
  ['1e400', null],
  ['"9007199254740993"', '9007199254740993'],
])('the id %s of a withdrawal method is exact, or null', async (id, shown) => {
  const row = `{"id":${id},"title":"Bank 9007199254740993"}`;
  screen.fake('getWithdrawalMethods', `[[${row}]]`);
  const { withdrawalMethods } = await screen.read('{ withdrawalMethods { id title } }');
  expect(withdrawalMethods).toEqual([{ id: shown, title: 'Bank 9007199254740993' }]);
});

test('a figure of a position that a double cannot hold exactly is null', async () => {
  const figures =
    '"profit":9007199254740993,"invested":1e400,"units":-1e16,"storage":9007199254740991';
  const others =
    '"priceOpen":0.30000000000000001,"stopLoss":-9007199254740991,"createdAt":1735689600000';
  screen.fake(
    'getOpenPositions',
    onWire(
      { names: { ...POSITION.names, ...OPEN_POSITIONS.names } },
      `{"positions":[{"id":"a","symbol":"AAPL",${figures},${others}}]}`,
    ),
  );
  const { positions, positionTotals } = await screen.read(
    '{ positions { profit invested units storage priceOpen stopLoss createdAt } positionTotals { profit invested } }',
  );
  expect(positions).toEqual([
    {
      profit: null,
      invested: null,
      units: null,
      storage: 9007199254740991,
      priceOpen: 0.3,
      stopLoss: -9007199254740991,
      createdAt: '2025-01-01T00:00:00.000Z',
    },
  ]);
  expect(positionTotals).toEqual({ profit: null, invested: null });
});

test('a figure of an instrument is the nearest double, and no row is dropped', async () => {
  const limit = '9223372036854775807';
  const text = await catalogWith(screen.app.sandbox.url, screen.token, limit);
  screen.fake('getAllTickers', text);
  screen.app.sandbox.changeCatalog({ change: 1 });
  const { instruments, catalog } = await screen.read(
    '{ catalog { size skipped } instruments(first: 1) { nodes { limit } } }',
  );
  expect(catalog).toEqual({ size: 1, skipped: 0 });
  expect(instruments.nodes).toEqual([{ limit: Number(limit) }]);
});

/** A catalog with only the gateway's first instrument, whose `limit` is replaced by this text. */
async function catalogWith(url: string, token: string, limit: string): Promise<string> {
  const response = await askGateway(url, 'getAllTickers', { token });
  const [first] = (await response.json()) as object[];
  const { limit: name } = INSTRUMENT.names;
  return JSON.stringify([{ ...first, [name]: 0 }]).replace(`"${name}":0`, `"${name}":${limit}`);
}
