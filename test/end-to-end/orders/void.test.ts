import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { readMetrics } from '../../support/leaks.ts';
import { readinessOf } from '../../support/readiness.ts';
import { outcomesOf } from '../operations/request-lines.ts';
import { justNow } from './order-client.ts';
import { startOrderFacade } from './order-facade.ts';
import { startOrderProcess } from './order-process.ts';
import { buying, TOO_LATE_MS, voiding, waiting, within } from './order-request.ts';

const TRANSPORTS = ['http', 'socket'] as const;
const VOIDED = { type: 'OrderRejected', error: 'VOIDED', sent: false };

describe.each(TRANSPORTS)('voidOrder (%s)', (transport) => {
  test('closes an unused key: whatever comes later with it is refused unsent, whatever it orders', async () => {
    await using facade = await startOrderFacade();
    const [phone, desk] = [facade.client(), facade.client()];
    expect(await phone.void('k', { transport })).toMatchObject({ ...VOIDED, replayed: false });
    const again = { ...VOIDED, replayed: true };
    for (const order of [buying('k'), buying('k', 'MSFT'), waiting('k')]) {
      expect(await desk.place(order, { transport })).toMatchObject(again);
    }
    expect(await desk.placed('k', { transport })).toMatchObject(again);
    expect(await desk.void('k', { transport })).toMatchObject(again);
    expect(facade.sandbox.orders()).toEqual([]);
    const theirs = facade.client({ email: 'user-2@example.com' });
    expect(await theirs.place(buying('k'), { transport })).toMatchObject({ replayed: false });
  });

  test('answers what became of a used key, with the account as it is after it', async () => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const client = facade.client();
    for (const symbol of ['AAPL', 'TEST.REJECT', 'TEST.UNKNOWN']) {
      const placed = await client.place(buying(symbol, symbol), { transport });
      expect(placed).toMatchObject({ replayed: false });
      expect(await client.void(symbol, { transport })).toEqual({ ...placed, replayed: true });
    }
    const query = `mutation { voidOrder(idempotencyKey: "AAPL") { ... on OrderAccepted { positions { id } } } }`;
    const id = sandbox.orders()[0]?.orderId;
    expect(await client.send({ query, variables: {} }, { transport })).toMatchObject({
      data: { voidOrder: { positions: expect.arrayContaining([{ id }]) } },
    });
    expect(sandbox.calls('openPosition')).toBe(3);
  });
});

test('a key that is older than the records is closed, and nothing is said of it', async () => {
  await using facade = await startOrderFacade();
  const client = facade.client();
  for (const made of [new Date(Date.now() - 3_600_000), null, new Date(Date.now() + 3_600_000)]) {
    const key = `made ${made?.toISOString()}`;
    expect(await client.send(voiding(key, made?.toISOString()))).toMatchObject({
      data: { answer: null },
      errors: [
        {
          message: expect.stringContaining('The key is closed'),
          extensions: { code: 'IDEMPOTENCY_UNAVAILABLE', retryable: false },
        },
      ],
    });
    expect(await client.placed(key)).toMatchObject({ code: 'IDEMPOTENCY_UNAVAILABLE' });
    expect(await client.place(buying(key))).toMatchObject(VOIDED);
  }
  expect(facade.sandbox.calls('openPosition')).toBe(0);
  await eventually(() => {
    expect(outcomesOf(facade, 'IDEMPOTENCY_UNAVAILABLE')).toEqual(['refused']);
  });
});

test('what is no key or no moment is refused before it is asked who that is', async () => {
  await using facade = await startOrderFacade();
  const nobody = facade.client({ token: null });
  for (const key of ['', 'k'.repeat(256), '\ud83d']) {
    const refused = { code: 'BAD_USER_INPUT', argument: 'idempotencyKey' };
    expect(await nobody.void(key)).toMatchObject(refused);
  }
  for (const since of ['', 'yesterday', '2026-02-30T00:00:00Z', '2026-11-20T09:30:00']) {
    expect(await nobody.send(voiding('k', since)), since).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT', argument: 'since' } }],
    });
  }
  expect(facade.sandbox.calls()).toBe(0);
});

test('a void needs the proof that an order needs', async () => {
  await using facade = await startOrderFacade({ GATEWAY_TIMEOUT_MS: '300' });
  const { sandbox } = facade;
  const email = 'user-1@example.com';
  for (const token of [sandbox.token({ email, signature: 'forged' }), null]) {
    const refused = { kind: 'error', code: 'UNAUTHENTICATED' };
    expect(await facade.client({ token }).void('k')).toMatchObject(refused);
  }
  const owner = facade.client();
  for (const kind of ['reset-before', 'hang', 'garbage'] as const) {
    sandbox.clearFaults();
    sandbox.fail({ operation: 'getSession', kind });
    expect(await owner.send(voiding('k', justNow().toISOString()))).toMatchObject({
      errors: [{ extensions: { code: 'GATEWAY_UNAVAILABLE', retryable: true } }],
    });
  }
  sandbox.clearFaults();
  expect(await owner.place(buying('k'))).toMatchObject({ replayed: false });
});

test('a token closes half of a tenth of its account’s share of records, and is told when to come again', async () => {
  await using facade = await startOrderFacade({ ORDER_RECORDS_PER_ACCOUNT: '40' });
  const client = facade.client();
  for (const key of ['k1', 'k2']) expect(await client.void(key)).toMatchObject(VOIDED);
  expect(await client.send(voiding('k3', justNow().toISOString()))).toMatchObject({
    errors: [
      {
        message: 'It cannot be said that the key is closed.',
        extensions: {
          code: 'IDEMPOTENCY_UNAVAILABLE',
          retryable: true,
          limit: 'ORDER_RECORDS_PER_ACCOUNT',
          retryAfter: expect.any(Number),
        },
      },
    ],
  });
  expect(await client.place(buying('k3'))).toMatchObject({ replayed: false });
  expect(await readinessOf(facade.url)).toEqual({ status: 'ok' });
});

test('a closed key outlives the process, in the file', async () => {
  await using started = await startOrderProcess({});
  const { client, facade, sandbox } = started;
  // Made before the second process begins, by more than it has lived when it is asked; and as the first one began, whatever becomes of the date.
  const since = new Date();
  expect(await client.void('k', { since })).toMatchObject(VOIDED);
  await facade.kill();
  await facade.ended();
  await facade.start();
  expect(await client.place(buying('k'))).toMatchObject(VOIDED);
  expect(await client.void('k', { since })).toMatchObject({ ...VOIDED, replayed: true });
  // The file remembers what its first process did.
  expect(await client.void('another', { since })).toMatchObject(VOIDED);
  expect(sandbox.calls('openPosition')).toBe(0);
});

test('the figures tell closed keys and orders that came too late apart from the others', async () => {
  await using facade = await startOrderFacade();
  const client = facade.client();
  for (let repeat = 0; repeat < 3; repeat += 1) await client.void('k');
  await client.place(buying('k'));
  await client.place(within(buying('late'), TOO_LATE_MS));
  const text = await readMetrics(facade.adminUrl);
  expect(text).toContain('trading_graph_order_keys_voided_total 1\n');
  expect(text).toContain('trading_graph_orders_total{outcome="expired"} 1\n');
  expect(text).toContain('trading_graph_orders_total{outcome="rejected"} 0\n');
  expect(text).toContain('trading_graph_order_replays_total 1\n');
  expect(text).toMatch(/trading_graph_order_store_seconds_count\{action="void"\} 3\n/);
});
