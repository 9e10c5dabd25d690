import { describe, expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { readMetrics } from '../../support/leaks.ts';
import { startTestRedis } from '../../support/redis.ts';
import { startOrderFacade } from './order-facade.ts';
import { startOrderProcess } from './order-process.ts';
import { buying, OUTCOME, voiding, waiting } from './order-request.ts';

const TRANSPORTS = ['http', 'socket'] as const;
const VOIDED = { type: 'OrderRejected', error: 'VOIDED', sent: false };
const UNAVAILABLE = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE' };

describe.each(TRANSPORTS)('voidOrder (%s)', (transport) => {
  test('closes an unused key: whatever comes later with it is refused unsent, whatever it orders', async () => {
    await using facade = await startOrderFacade();
    const [phone, desk] = [facade.client(), facade.client()];
    expect(await phone.void('k', { transport })).toMatchObject({ ...VOIDED, replayed: false });
    const again = { ...VOIDED, replayed: true };
    for (const client of [phone, desk]) {
      for (const order of [buying('k'), buying('k', 'MSFT'), waiting('k')]) {
        expect(await client.place(order, { transport })).toMatchObject(again);
      }
      expect(await client.placed('k', { transport })).toMatchObject(again);
      expect(await client.void('k', { transport })).toMatchObject(again);
    }
    expect(facade.sandbox.calls('openPosition')).toBe(0);
    expect(facade.sandbox.calls('placeLimitOrder')).toBe(0);
    const theirs = facade.client({ email: 'user-2@example.com' });
    expect(await theirs.place(buying('k'), { transport })).toMatchObject({ replayed: false });
  });

  test('answers what became of a used key, with the account as it is after it', async () => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const client = facade.client();
    const bought = await client.place(buying('bought'), { transport });
    const replayed = (reply: object) => ({ ...reply, replayed: true });
    expect(await client.void('bought', { transport })).toEqual(replayed(bought));
    const refused = await client.place(buying('refused', 'TEST.REJECT'), { transport });
    expect(refused).toMatchObject({ type: 'OrderRejected', sent: true });
    expect(await client.void('refused', { transport })).toEqual(replayed(refused));
    const unknown = await client.place(buying('unknown', 'TEST.UNKNOWN'), { transport });
    expect(unknown).toMatchObject({ type: 'OrderOutcomeUnknown' });
    expect(await client.void('unknown', { transport })).toEqual(replayed(unknown));
    const query = `mutation { voidOrder(idempotencyKey: "bought") { ... on OrderAccepted { positions { id } } } }`;
    expect(await client.send({ query, variables: {} }, { transport })).toMatchObject({
      data: {
        voidOrder: { positions: expect.arrayContaining([{ id: sandbox.orders()[0]?.orderId }]) },
      },
    });
    expect(sandbox.calls('openPosition')).toBe(3);
  });

  test('waits for an order under way, and closes the key where that ends in an error', async () => {
    await using facade = await startOrderFacade({}, { slowMs: 300 });
    const { sandbox } = facade;
    const client = facade.client();
    await client.placed('none');
    const placed = client.place(buying('slow', 'TEST.SLOW'), { transport });
    await eventually(() => sandbox.calls('openPosition') === 1);
    const [order, voided] = await Promise.all([placed, client.void('slow', { transport })]);
    expect(voided).toEqual({ ...order, replayed: true });
    expect(voided).toMatchObject({ type: 'OrderAccepted' });

    const fault = { operation: 'openPosition', kind: 'status', status: 429 } as const;
    sandbox.fail({ ...fault, delayMs: 300, times: 1 });
    const failing = client.place(buying('failing'), { transport });
    await eventually(() => sandbox.calls('openPosition') === 2);
    const closed = client.void('failing', { transport });
    expect(await failing).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await closed).toMatchObject({ ...VOIDED, replayed: false });
    expect(await client.place(buying('failing'), { transport })).toMatchObject(VOIDED);
    expect(sandbox.calls('openPosition')).toBe(2);
  });

  test('says nothing of a key that is older than the records, and closes it all the same', async () => {
    await using facade = await startOrderFacade();
    const client = facade.client();
    const since = new Date(Date.now() - 3_600_000);
    for (const made of [since, null, new Date(Date.now() + 3_600_000)]) {
      const key = `made ${made?.toISOString()}`;
      for (let time = 0; time < 2; time += 1) {
        const body = await client.send(voiding(key, made?.toISOString()), { transport });
        expect(body).toMatchObject({
          data: { answer: null },
          errors: [
            {
              message: expect.stringContaining('The key is closed'),
              extensions: { code: 'IDEMPOTENCY_UNAVAILABLE', retryable: false },
            },
          ],
        });
      }
      expect(await client.placed(key, { transport })).toMatchObject(UNAVAILABLE);
      expect(await client.place(buying(key), { transport })).toMatchObject(VOIDED);
    }
    expect(facade.sandbox.calls('openPosition')).toBe(0);
  });

  test('refuses what is no key or no moment, before it asks who that is', async () => {
    await using facade = await startOrderFacade();
    const nobody = facade.client({ token: null });
    for (const key of ['', 'k'.repeat(256), '\ud83d']) {
      const refused = { code: 'BAD_USER_INPUT', argument: 'idempotencyKey' };
      expect(await nobody.void(key, { transport })).toMatchObject(refused);
    }
    for (const since of ['', 'yesterday', '2026-02-30T00:00:00Z', '2026-11-20T09:30:00']) {
      const body = await nobody.send(voiding('k', since), { transport });
      const { errors: [error] = [] } = body === 'cut' ? {} : body;
      expect(error?.extensions, since).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'since' });
    }
    expect(facade.sandbox.calls()).toBe(0);
  });

  test('needs the proof that an order needs', async () => {
    await using facade = await startOrderFacade({ GATEWAY_TIMEOUT_MS: '300' });
    const { sandbox } = facade;
    const email = 'user-1@example.com';
    const forged = facade.client({ token: sandbox.token({ email, signature: 'forged' }) });
    const refused = { kind: 'error', code: 'UNAUTHENTICATED' };
    expect(await forged.void('k', { transport })).toMatchObject(refused);
    expect(await facade.client({ token: null }).void('k', { transport })).toMatchObject(refused);
    const owner = facade.client();
    for (const kind of ['reset-before', 'hang', 'garbage'] as const) {
      sandbox.clearFaults();
      sandbox.fail({ operation: 'getSession', kind });
      const body = await owner.send(voiding('k', new Date().toISOString()), { transport });
      expect(body).toMatchObject({
        errors: [{ extensions: { code: 'GATEWAY_UNAVAILABLE', retryable: true } }],
      });
    }
    sandbox.clearFaults();
    expect(await owner.placed('k', { transport })).toEqual({ kind: 'nothing' });
    expect(await owner.place(buying('k'), { transport })).toMatchObject({ replayed: false });
  });

  test('is one of the five fields of a mutation, and runs in its turn', async () => {
    await using facade = await startOrderFacade();
    const client = facade.client();
    const since = JSON.stringify(new Date().toISOString());
    const field = (n: number) =>
      `a${n}: voidOrder(idempotencyKey: "k${n % 2}", since: ${since}) ${OUTCOME}`;
    const mutation = (count: number) => ({
      query: `mutation { ${Array.from({ length: count }, (_, n) => field(n)).join(' ')} }`,
      variables: {},
    });
    const [one, two] = [await client.send(mutation(5)), await client.send(mutation(6))];
    const first = { __typename: 'OrderRejected', replayed: false, error: 'VOIDED', sent: false };
    const again = { ...first, replayed: true };
    expect(one).toEqual(
      expect.objectContaining({ data: { a0: first, a1: first, a2: again, a3: again, a4: again } }),
    );
    expect(two).toMatchObject({
      errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'mutation fields' } }],
    });
  });
});

describe('an account', () => {
  test('closes a tenth of its share of records, and goes on trading beyond that', async () => {
    await using facade = await startOrderFacade({ ORDER_RECORDS_PER_ACCOUNT: '20' });
    const client = facade.client();
    for (const key of ['k1', 'k2']) expect(await client.void(key)).toMatchObject(VOIDED);
    const body = await client.send(voiding('k3', new Date().toISOString()));
    const { errors: [error] = [] } = body === 'cut' ? {} : body;
    expect(error).toMatchObject({
      message: 'It cannot be said that the key is closed.',
      extensions: {
        ...{ code: 'IDEMPOTENCY_UNAVAILABLE', retryable: true },
        limit: 'ORDER_RECORDS_PER_ACCOUNT',
      },
    });
    expect(error?.extensions.retryAfter).toBeGreaterThan(86_000);
    expect(await client.void('k2')).toMatchObject({ ...VOIDED, replayed: true });
    expect(await client.place(buying('k3'))).toMatchObject({ replayed: false });
    expect(await client.void('k3')).toMatchObject({ type: 'OrderAccepted' });
    const theirs = facade.client({ email: 'user-2@example.com' });
    expect(await theirs.void('k3')).toMatchObject(VOIDED);
    const ready = await (await fetch(`${facade.url}/health/ready`)).json();
    expect(ready).toEqual({ status: 'ok' });
  });

  test('closes none where the records are full', async () => {
    await using facade = await startOrderFacade({ ORDER_RECORDS_MAX: '10' });
    const client = facade.client();
    for (let n = 0; n < 10; n += 1) await client.place(buying(`order ${n}`));
    expect(await client.void('k')).toMatchObject(UNAVAILABLE);
    expect(await client.void('order 3')).toMatchObject({ type: 'OrderAccepted' });
  });
});

test('a closed key outlives the process, in the file', async () => {
  await using started = await startOrderProcess({});
  const { client, facade, sandbox } = started;
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

describeWithRedis('replicas that share a Redis', (redisServerPath) => {
  test('share closed keys, and say nothing while it is away', async () => {
    await using redis = await startTestRedis(redisServerPath);
    const environment = { REDIS_URL: redis.url };
    await using one = await startOrderFacade(environment);
    await using other = await startOrderFacade(environment, one.sandbox);
    const [here, there] = [one.client(), other.client()];
    const since = new Date();
    const voided = await eventually(async () => {
      const reply = await here.void('k', { since });
      expect(reply.kind).toBe('outcome');
      return reply;
    });
    expect(voided).toMatchObject(VOIDED);
    expect(await there.place(buying('k'))).toMatchObject(VOIDED);
    const placed = there.place(buying('order'));
    const asked = await Promise.all([here.void('order'), here.void('order')]);
    const order = await placed;
    // Whichever came first, all are told the same.
    for (const reply of [order, ...asked]) {
      expect(reply).toMatchObject({ ...order, replayed: expect.any(Boolean) });
    }
    expect(order.kind).toBe('outcome');
    await redis.kill();
    expect(await here.void('away', { since })).toMatchObject(UNAVAILABLE);
    // Both have said that it is closed.
    for (const client of [here, there]) {
      expect(await client.void('k', { since })).toMatchObject(VOIDED);
      expect(await client.place(buying('k'))).toMatchObject(VOIDED);
    }
    await redis.start();
    await eventually(async () => {
      expect(await there.place(buying('away'))).toMatchObject({ type: 'OrderAccepted' });
      return true;
    });
    expect(await here.void('away', { since })).toMatchObject({ type: 'OrderAccepted' });
    // This Redis has forgotten what it cannot be given back.
    const older = await here.void('unused', { since });
    expect(older).toMatchObject(UNAVAILABLE);
    expect(await there.place(buying('unused'))).toMatchObject(VOIDED);
  });
});

test('the figures tell closed keys and orders that came too late apart from the others', async () => {
  await using facade = await startOrderFacade();
  const client = facade.client();
  await client.void('k');
  await client.void('k');
  await client.place(buying('k'));
  const { mutation, input } = buying('late');
  const sendBefore = new Date(Date.now() - 1).toISOString();
  await client.place({ mutation, input: { ...input, sendBefore } });
  const text = await readMetrics(facade.adminUrl);
  expect(text).toContain('trading_graph_order_keys_voided_total 1\n');
  expect(text).toContain('trading_graph_orders_total{outcome="expired"} 1\n');
  expect(text).toContain('trading_graph_orders_total{outcome="rejected"} 0\n');
  expect(text).toContain('trading_graph_order_replays_total 1\n');
  expect(text).toMatch(/trading_graph_order_store_seconds_count\{action="void"\} 2\n/);
});
