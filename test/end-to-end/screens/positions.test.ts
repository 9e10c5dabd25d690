import { describe, expect, test } from 'vitest';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { positionWith } from '../../gateway/wire/rows.ts';
import { startTestApp } from '../../support/app.ts';
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
