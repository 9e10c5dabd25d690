import { describe, expect, test } from 'vitest';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { SESSION } from '../../../src/gateway/operations/get-session.ts';
import { POSITION } from '../../../src/gateway/operations/holdings.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { useSignedInApp } from '../../support/signed-in-app.ts';
import { webSocketClient } from '../live/watcher.ts';

const screen = useSignedInApp();

interface Row {
  readonly id: string;
}
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id).toSorted();

const rows = (...names: string[]) =>
  names.map((id) => ({ [POSITION.names.id]: id, [POSITION.names.symbol]: 'AAPL' }));
const openPositions = (...names: string[]) => ({
  [OPEN_POSITIONS.names.positions]: rows(...names),
});
const snapshot = (orders: string[], positions: string[]) => ({
  [SESSION.names.login]: 700001,
  [SESSION.names.group]: 'standard-usd',
  [SESSION.names.orders]: rows(...orders),
  [SESSION.names.positions]: rows(...positions),
});

/** Executes a pending order of the account. Returns its id, which the new position has too. */
async function trigger({ sandbox, query }: TestApp, token: string): Promise<string> {
  const { data } = await query('{ orders { id symbol priceOpen } }', { token });
  const [order] = data.orders;
  sandbox.putPrice(order.symbol, order.priceOpen);
  return order.id;
}

describe('orders together with positions', () => {
  test.each([
    '{ orders { id } positions { id } }',
    '{ positions { id } orders { id } }',
    '{ orders { id } position(id: "none") { id } positions { id } }',
    '{ session { login positions { id } } orders { id } positions { id } }',
    '{ instruments(first: 500) { nodes { orders { id } } } orders { id } positions { id } }',
  ])('exclude orders that have become positions: %s', async (document) => {
    await screen.read('{ catalog { size } positions { id } }');
    const executed = await trigger(screen.app, screen.token);
    screen.app.sandbox.clearCalls();
    const data = await screen.read(document);
    expect(ids(data.positions)).toContain(executed);
    expect(ids(data.orders)).not.toContain(executed);
    expect(screen.calls('getSession')).toBe(1);
    screen.app.sandbox.reset();
  });

  // A newer list is read by the same query. An older list is that of a feed.
  test.each([
    ['newer than the snapshot is used for the session too', false, ['q'], ['q']],
    ['older than the snapshot is not used for the session', true, ['p'], ['p', 'q']],
  ])('a list of positions that is %s', async (_, hasFeed, inList, shown) => {
    const inSnapshot = ['p', 'q'];
    await using app = await startTestApp({ POSITIONS_POLL_MS: '20000' });
    const token = await app.signIn();
    await using client = webSocketClient(app, token);
    const fake = (operation: 'getSession' | 'getOpenPositions', body: unknown, delayMs = 0) =>
      app.sandbox.fail({ operation, kind: 'status', status: 200, body, delayMs });
    // The list arrives after the snapshot.
    fake('getOpenPositions', openPositions(...inList), 200);
    fake('getSession', snapshot([], inSnapshot));
    if (hasFeed) {
      const watcher = client.watch();
      await eventually(() => watcher.events.length > 0, watcher.whileOpen);
      app.sandbox.clearFaults();
      fake('getSession', snapshot([], inSnapshot));
      app.sandbox.fail({ operation: 'getOpenPositions', kind: 'delay', delayMs: 600_000 });
    }
    const session = hasFeed ? 'session(maxAge: 0)' : 'session';
    const document = `{ ${session} { positions { id } } positions { id } }`;
    const { data } = await app.query(document, { token });
    expect(ids(data.session.positions)).toEqual(shown);
  });

  test('are answered unchanged if an order is missing from the gateway’s list of positions', async () => {
    screen.fake('getOpenPositions', openPositions('p'));
    screen.fake('getSession', snapshot(['o'], []));
    const document =
      '{ orders { id } again: orders { id } order(id: "o") { id } positions { id } instrument(id: "AAPL") { orders { id } } }';
    const data = await screen.read(document);
    expect(data).toMatchObject({ orders: [{ id: 'o' }], positions: [{ id: 'p' }] });
    expect(data.instrument.orders).toEqual([{ id: 'o' }]);
    expect(screen.calls('getSession')).toBe(1);
  });

  test('are answered even if the positions cannot be read or are missing from the snapshot', async () => {
    screen.app.sandbox.fail({ operation: 'getOpenPositions', kind: 'garbage' });
    const { data, errors } = await screen.ask(
      '{ orders { id } positions { id } session { positions { id } } }',
    );
    expect(data.positions).toBeNull();
    expect(data.orders).toHaveLength(3);
    expect(data.session.positions).toHaveLength(6);
    expect(errors).toHaveLength(1);
    screen.app.sandbox.clearFaults();
    const { [SESSION.names.positions]: _, ...without } = snapshot(['o'], []);
    screen.fake('getSession', without);
    const again = await screen.ask('{ orders { id } positions { id } }', screen.otherToken());
    expect(again.data.orders).toEqual([{ id: 'o' }]);
    expect(screen.calls('getSession')).toBe(2);
  });
});

describe('orders alone', () => {
  test('agree with positions that another device of the account has read', async () => {
    screen.fake('getSession', snapshot(['filled'], []), { times: 1 });
    screen.fake('getSession', snapshot([], ['filled']));
    await screen.read('{ orders { id } }');
    screen.fake('getOpenPositions', openPositions('filled'));
    await screen.read('{ session { positions { id } } }', screen.otherToken());
    expect(await screen.read('{ session { positions { id } } orders { id } }')).toEqual({
      session: { positions: [{ id: 'filled' }] },
      orders: [],
    });
    expect(screen.calls('getSession')).toBe(3);
  });

  test('are current if a feed of the account runs in this process', async () => {
    await using app = await startTestApp({ POSITIONS_POLL_MS: '100' });
    const token = await app.signIn();
    await using client = webSocketClient(app, token);
    const watcher = client.watch();
    await eventually(() => watcher.events.length > 0, watcher.whileOpen);
    const executed = await trigger(app, token);
    await eventually(() => watcher.rows.has(executed), watcher.whileOpen);
    const { data } = await app.query('{ orders { id } }', { token });
    expect(ids(data.orders)).not.toContain(executed);
    // The polls of the feed need no further snapshots.
    app.sandbox.clearCalls();
    await eventually(() => expect(app.sandbox.calls('getOpenPositions')).toBeGreaterThan(3));
    expect(app.sandbox.calls('getSession')).toBe(0);
  });
});

test('lists that differ permanently are read again once, and then no more often than lists that agree', async () => {
  const { positions } = await screen.read('{ positions { id } }');
  const [, ...others] = ids(positions);
  // Op 12 lacks a row of op 10.
  screen.fake('getOpenPositions', openPositions(...others));
  for (let read = 0; read < 24; read += 1) {
    const { session } = await screen.read('{ session { balance } positions { id } }');
    expect(session.balance).toEqual(expect.any(Number));
  }
  expect(screen.calls('getSession')).toBeLessThanOrEqual(2);
  expect(screen.calls('getOpenPositions')).toBe(1 + 24);
});
