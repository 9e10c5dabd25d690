import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { type LiveClient, type Watcher, webSocketClient } from './watcher.ts';

// So long that no poll falls due during a test.
const POLL_MS = '86400000';

let app: TestApp;
let token: string;
let client: LiveClient;
let watcher: Watcher;

beforeEach(async () => {
  app = await startTestApp({ POSITIONS_POLL_MS: POLL_MS, POSITIONS_POLL_MAX_MS: POLL_MS });
  token = app.sandbox.token({ email: 'demo@example.com' });
  client = webSocketClient(app, token);
  watcher = client.watch();
  await eventually(() => watcher.last !== undefined);
  app.sandbox.clearCalls();
});
afterEach(async () => {
  client.dispose();
  await app.close();
});

/** Another device's snapshot differs from the list, and a poll is due long before the next one would be. */
async function learnElsewhere(): Promise<void> {
  const other = app.sandbox.token({ email: 'demo@example.com' });
  await app.query('{ session { positions { id } } }', { token: other });
}

const ORDER = `mutation ($key: String!) {
  placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: $key }) {
    __typename
  }
}`;

test('a query reads the running feed while it is younger than a poll', async () => {
  app.sandbox.tick();
  const { data, extensions } = await app.query('{ positions { id profit } }', { token });
  expect(data.positions).toHaveLength(6);
  for (const { id, profit } of data.positions) expect(profit).toBe(watcher.rows.get(id)?.profit);
  expect(extensions.gateway).toMatchObject([{ operation: 'getOpenPositions', source: 'shared' }]);
  expect(app.sandbox.calls('getOpenPositions')).toBe(0);
});

test('another device has to be proved before it reads the feed', async () => {
  const other = app.sandbox.token({ email: 'demo@example.com' });
  await app.query('{ positions { id } }', { token: other });
  expect(app.sandbox.calls('getOpenPositions')).toBe(1);
});

test('a snapshot that another device reads makes a poll due where it differs, and only there', async () => {
  await learnElsewhere();
  app.sandbox.tick();
  expect(app.sandbox.calls('getOpenPositions')).toBe(0);
  await learnElsewhere();
  await eventually(() => watcher.events.length === 2);
  expect(watcher.last?.upserted.length).toBeGreaterThan(0);
  expect(app.sandbox.calls('getOpenPositions')).toBe(1);
});

test('a cached snapshot has the positions of the feed, once that is younger', async () => {
  const ask = () => app.query('{ session { positions { id priceCurrent } fetchedAt } }', { token });
  const first = (await ask()).data.session;
  app.sandbox.tick();
  await learnElsewhere();
  app.sandbox.clearCalls();
  await eventually(() => watcher.events.length > 1);
  const second = (await ask()).data.session;
  expect(second.fetchedAt).toBe(first.fetchedAt);
  expect(second.positions).not.toEqual(first.positions);
  for (const { id, priceCurrent } of second.positions) {
    expect(priceCurrent).toBe(watcher.rows.get(id)?.priceCurrent);
  }
  expect(app.sandbox.calls('getSession')).toBe(0);
});

test('after an accepted order the feed polls immediately, and the cached snapshot is invalid', async () => {
  await app.query('{ session { balance } }', { token });
  app.sandbox.clearCalls();
  const { data } = await app.query(ORDER, { token, variables: { key: 'live-1' } });
  expect(data.placeOrder.__typename).toBe('OrderAccepted');
  await eventually(() => watcher.rows.size === 7);
  expect(watcher.last?.opened).toHaveLength(1);
  expect(watcher.last?.snapshot).toBe(false);
  await app.query('{ session { balance } }', { token });
  expect(app.sandbox.calls('getSession')).toBe(1);
});

test('a position that appears or vanishes in a poll makes the cached snapshot stale', async () => {
  await using quick = await startTestApp({ POSITIONS_POLL_MS: '100' });
  const own = quick.sandbox.token({ email: 'demo@example.com' });
  const watching = webSocketClient(quick, own);
  const seen = watching.watch();
  await eventually(() => seen.last !== undefined);
  const sessions = () => quick.sandbox.calls('getSession');
  const ask = () => quick.query('{ session { balance } }', { token: own });
  await ask();
  const before = sessions();
  await ask();
  expect(sessions()).toBe(before);
  // Opened without the facade, as from another of the trader's terminals.
  const order = { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1 };
  await fetch(`${quick.sandbox.url}/trading/positions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  await eventually(() => seen.rows.size === 7);
  await ask();
  expect(sessions()).toBe(before + 1);
  await ask();
  expect(sessions()).toBe(before + 1);
  watching.dispose();
});

test('what live events select beside the list is read for each of them', async () => {
  const query = `subscription { positionChanges {
    cursor snapshot closed opened status asOf totals { count profit }
    upserted { id symbol profit priceCurrent instrument { name } }
  } }`;
  const named = client.watch({}, query);
  await eventually(() => named.last !== undefined);
  const name = (row: unknown) => (row as { instrument: { name: string } | null }).instrument?.name;
  expect([...named.rows.values()].every((row) => typeof name(row) === 'string')).toBe(true);
  expect(app.sandbox.calls('getAllTickers')).toBe(1);
  app.sandbox.tick();
  await learnElsewhere();
  await eventually(() => named.events.length === 2);
  expect([...named.rows.values()].every((row) => typeof name(row) === 'string')).toBe(true);
  expect(app.sandbox.calls('getAllTickers')).toBe(1);
});
