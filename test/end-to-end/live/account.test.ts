import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { orderElsewhere } from '../../support/order-elsewhere.ts';
import { keyOf } from '../../support/order-keys.ts';
import { ownApp } from '../../support/shared-app.ts';
import { closeAfterEachTest } from './close-after-each-test.ts';
import { ACCOUNT, type Watcher, webSocketClient } from './watcher.ts';

const DEMO = { email: 'demo@example.com' };

const app = ownApp({ POSITIONS_POLL_MS: '1000' });
const opened = closeAfterEachTest();
const watch = (document = ACCOUNT, email = DEMO.email, token = app.sandbox.token({ email })) =>
  opened(webSocketClient(app, token)).watch({}, document);

const sessionReads = () => app.sandbox.calls('getSession');

/** Waits until the watcher has the same orders, positions and balance as the gateway. */
async function expectGatewayState(watcher: Watcher): Promise<void> {
  await eventually(async () => {
    const { data } = await app.query(
      '{ session(maxAge: 0) { balance } orders { id } positions { id profit } }',
      { token: app.sandbox.token(DEMO) },
    );
    const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort();
    expect([...watcher.orders.keys()].sort()).toEqual(ids(data.orders));
    expect(watcher.list.map(({ id }) => id)).toEqual(ids(data.positions));
    expect(watcher.accountEvents.at(-1)?.session?.balance).toBe(data.session.balance);
  });
}

test('after the snapshot an order that the market triggers becomes a position', async () => {
  const watcher = watch();
  await eventually(() => watcher.accountEvents.length > 0, watcher.whileOpen);
  const [first] = watcher.accountEvents;
  expect(first).toMatchObject({
    snapshot: true,
    positions: { opened: [], closed: [] },
    orders: { closed: [], fetchedAt: expect.stringMatching(/^20/) },
    session: { id: '700001', balance: 50_000, fetchedAt: expect.stringMatching(/^20/) },
    totals: { count: 6 },
    status: 'LIVE',
  });
  expect([watcher.rows.size, watcher.orders.size]).toEqual([6, 3]);
  const before = sessionReads();
  const [order] = [...watcher.orders.values()];
  if (!order) throw new Error('no order');
  app.sandbox.putPrice(order.symbol, order.priceOpen);
  await eventually(() => watcher.rows.has(order.id), watcher.whileOpen);
  // The new position causes a read of op 10, which shows that the order is gone.
  await eventually(() => expect(sessionReads()).toBeGreaterThan(before), watcher.whileOpen);
  await eventually(() => expect(watcher.orders.has(order.id)).toBe(false), watcher.whileOpen);
  await expectGatewayState(watcher);
});

test('orders of this service appear until a refusal by op 10 ends the subscription', async () => {
  const token = app.sandbox.token(DEMO);
  const watcher = watch(ACCOUNT, DEMO.email, token);
  await eventually(() => expect(watcher.orders.size).toBe(3), watcher.whileOpen);
  const place = async (more: object) => {
    const input = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 }, ...more };
    const document =
      'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { ... on OrderAccepted { orderId } } }';
    const { data } = await app.query(document, { token, variables: { input } });
    return data.placeOrder.orderId;
  };
  const limit = await place({ kind: 'PENDING', price: 1, idempotencyKey: keyOf('limit') });
  await eventually(() => watcher.orders.has(limit), watcher.whileOpen);
  const market = await place({ idempotencyKey: keyOf('market') });
  await eventually(() => watcher.rows.has(market), watcher.whileOpen);
  await expectGatewayState(watcher);
  app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 401 });
  await orderElsewhere(app.sandbox, DEMO.email);
  await eventually(() => watcher.ended !== null, watcher.whileOpen);
  expect(watcher.ended).toMatchObject({ code: 4403, reason: 'UNAUTHENTICATED' });
});

/** The beginning of a selection. Each document adds fields and the closing brace. */
const POSITIONS = 'accountChanges { cursor snapshot positions { upserted { id } closed opened }';
const FRAGMENT = 'fragment Rest on AccountChanges';

test.each([
  ['the positions alone', 0, `subscription { ${POSITIONS} status } }`],
  [
    'fields excluded by variables',
    0,
    `subscription ($on: Boolean = false) { ${POSITIONS} ...Rest @include(if: $on) session @skip(if: true) { id } } }
     ${FRAGMENT} { orders { closed } }`,
  ],
  [
    'a fragment',
    1,
    `subscription { ${POSITIONS} ...Rest } } ${FRAGMENT} { ... { session { balance } } }`,
  ],
  ['an alias', 1, `subscription { ${POSITIONS} pending: orders { closed } } }`],
])('with %s selected, a change causes %i reads of op 10', async (_what, times, document) => {
  const watcher = watch(document);
  await eventually(() => expect(watcher.rows.size).toBe(6), watcher.whileOpen);
  const before = sessionReads();
  const id = await orderElsewhere(app.sandbox, DEMO.email);
  await eventually(() => watcher.rows.has(String(id)), watcher.whileOpen);
  await eventually(() => expect(sessionReads()).toBe(before + times));
});

test('a field of an event is served by the feed or refused, and never causes a gateway call', async () => {
  const account = watch(
    `subscription { accountChanges { cursor snapshot status positions { upserted { id } opened closed }
      orders { upserted { id } closed } session { id positions { id } orders { id } } } }`,
  );
  const changes = watch(
    'subscription { positionChanges { cursor snapshot upserted { id instrument { orders { id } } } closed } }',
    'pro@example.com',
  );
  await eventually(() => account.events.length > 0 && changes.errors.length > 0);
  expect(account.errors).toEqual([]);
  expect(changes.errors[0]).toMatchObject({
    path: ['positionChanges', 'upserted', 0, 'instrument', 'orders'],
    extensions: { code: 'BAD_USER_INPUT' },
  });
  app.sandbox.clearCalls();
  const accountEvents = account.events.length;
  const changesEvents = changes.events.length;
  for (let tick = 0; tick < 3; tick += 1) {
    app.sandbox.tick();
    const polls = app.sandbox.calls('getOpenPositions');
    await eventually(() => expect(app.sandbox.calls('getOpenPositions')).toBeGreaterThan(polls));
  }
  await eventually(() => account.events.length > accountEvents);
  await eventually(() => changes.events.length > changesEvents);
  const { getOpenPositions = 0, getSession = 0, ...others } = app.sandbox.callCounts().operations;
  expect(others).toEqual({});
  // Only one of the subscriptions selects the session, so op 10 is called at most at every fifth poll of one account.
  expect(5 * (getSession - 1)).toBeLessThanOrEqual(getOpenPositions);
});
