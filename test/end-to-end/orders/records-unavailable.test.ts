import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRedis } from '../../support/redis.ts';
import { outcomesOf } from '../operations/request-lines.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, placing, waiting } from './order-request.ts';

const UNAVAILABLE = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE' };

async function readiness(url: string) {
  const response = await fetch(`${url}/health/ready`);
  return { code: response.status, body: await response.json() };
}

test('records that are full refuse orders before they are sent', async () => {
  await using facade = await startOrderFacade({ ORDER_RECORDS_MAX: '10' });
  const { sandbox, url } = facade;
  const client = facade.client();
  for (let n = 1; n <= 10; n += 1) {
    expect(await client.place(buying(`order ${n}`))).toMatchObject({ type: 'OrderAccepted' });
  }
  for (const transport of ['http', 'socket'] as const) {
    expect(await client.place(buying('one more'), { transport })).toMatchObject(UNAVAILABLE);
    expect(await client.place(waiting('one more'), { transport })).toMatchObject(UNAVAILABLE);
  }
  expect(sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder')).toBe(10);
  expect(await client.place(buying('order 3'))).toMatchObject({ replayed: true });
  expect(await client.placed('one more')).toEqual({ kind: 'nothing' });
  expect(await readiness(url)).toEqual({
    code: 200,
    body: { status: 'degraded', reasons: ['order-store'] },
  });
  await eventually(() => expect(outcomesOf(facade, UNAVAILABLE.code)).toEqual(['fault']));
});

test('a token that floods is refused alone beyond its half, before sending, and told when to come again', async () => {
  await using facade = await startOrderFacade({ ORDER_RECORDS_PER_ACCOUNT: '6' });
  const { sandbox, url } = facade;
  const flooding = facade.client();
  sandbox.fail({ operation: 'openPosition', kind: 'status', status: 422, times: 3 });
  for (let n = 1; n <= 3; n += 1) {
    expect(await flooding.place(buying(`k${n}`))).toMatchObject({ type: 'OrderRejected' });
  }
  for (const transport of ['http', 'socket'] as const) {
    const body = await flooding.send(placing(waiting('one more')), { transport });
    const { errors: [{ extensions } = {}] = [] } = body === 'cut' ? {} : body;
    expect(extensions).toMatchObject({
      code: 'IDEMPOTENCY_UNAVAILABLE',
      retryable: false,
      limit: 'ORDER_RECORDS_PER_ACCOUNT',
    });
    expect(extensions?.retryAfter).toBeGreaterThan(86_000);
  }
  expect(sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder')).toBe(3);
  const repeat = await flooding.place(buying('k2'));
  expect(repeat).toMatchObject({ type: 'OrderRejected', replayed: true });
  // What signs in later can trade, and whatever the account has, keys can be closed.
  const later = facade.client({
    token: sandbox.token({ email: 'user-1@example.com', expiresInSeconds: 3_600 }),
  });
  for (let n = 4; n <= 6; n += 1)
    expect(await later.place(buying(`k${n}`))).toMatchObject({ type: 'OrderAccepted' });
  expect(await later.place(buying('one more'))).toMatchObject(UNAVAILABLE);
  expect(await later.void('one more')).toMatchObject({ error: 'VOIDED' });
  const other = facade.client({ email: 'user-2@example.com' });
  expect(await other.place(buying('k1'))).toMatchObject({ type: 'OrderAccepted' });
  expect(await readiness(url)).toEqual({ code: 200, body: { status: 'ok' } });
  await eventually(() => expect(outcomesOf(facade, UNAVAILABLE.code)).toEqual(['refused']));
});

describeWithRedis('a Redis that is unavailable', (redisServerPath) => {
  test.each(['killed', 'frozen'] as const)(
    'refuses orders before they are sent, and while it is so (%s)',
    async (fate) => {
      await using redis = await startTestRedis(redisServerPath);
      await using facade = await startOrderFacade({ REDIS_URL: redis.url });
      const { sandbox } = facade;
      const client = facade.client();
      await eventually(async () => {
        expect(await client.place(buying('before'))).toMatchObject({ type: 'OrderAccepted' });
        return true;
      });
      if (fate === 'killed') await redis.kill();
      else redis.signal('SIGSTOP');
      const replies = await Promise.all([
        client.place(buying('after')),
        client.place(waiting('after it'), { transport: 'socket' }),
      ]);
      expect(replies).toMatchObject([UNAVAILABLE, UNAVAILABLE]);
      expect(sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder')).toBe(1);
      // This replica still has the outcome of its own order.
      expect(await client.placed('before')).toMatchObject({ type: 'OrderAccepted' });
      expect(await client.place(buying('before'))).toMatchObject({ replayed: true });
      expect(await readiness(facade.url)).toMatchObject({
        code: 200,
        body: { status: 'degraded' },
      });

      if (fate === 'killed') await redis.start();
      else redis.signal('SIGCONT');
      await eventually(async () => {
        expect(await client.place(buying('after'))).toMatchObject({ type: 'OrderAccepted' });
        return true;
      });
      expect(sandbox.orders().map(({ comment }) => comment)).toEqual(['before', 'after']);
    },
  );
});

describe('a token that was never proved, while no proof can be obtained', () => {
  test.each<[string, Omit<Fault, 'operation'>, string]>([
    ['answers 404', { kind: 'status', status: 404 }, 'GATEWAY_UNAVAILABLE'],
    ['does not answer', { kind: 'hang' }, 'GATEWAY_UNAVAILABLE'],
    ['answers with garbage', { kind: 'garbage' }, 'GATEWAY_UNAVAILABLE'],
    ['asks for a pause', { kind: 'status', status: 429 }, 'RATE_LIMITED'],
  ])('sends no order where the gateway %s', async (_title, fault, code) => {
    const deadline = fault.kind === 'hang' && { GATEWAY_TIMEOUT_MS: '3000' };
    await using facade = await startOrderFacade({ ...deadline });
    const { sandbox } = facade;
    const [proved, fresh] = [facade.client(), facade.client()];
    await proved.placed('none');
    sandbox.fail({ operation: 'getSession', ...fault });
    for (const transport of ['http', 'socket'] as const) {
      const body = await fresh.send(placing(buying('wanted')), { transport });
      expect(body).toMatchObject({ errors: [{ extensions: { code, retryable: true } }] });
    }
    expect(sandbox.calls('openPosition')).toBe(0);
    // A proved token can still trade.
    expect(await proved.place(buying('wanted'))).toMatchObject({ replayed: false });
    expect(sandbox.calls('openPosition')).toBe(1);
  });
});

test('a snapshot with a broken row keeps its own error, and stops neither an order nor a live list', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const body = { group: 'standard', positions: [{ id: 'p1' }] };
  sandbox.fail({ operation: 'getSession', kind: 'status', status: 200, body });
  expect(await facade.client().place(buying('wanted'))).toMatchObject({ type: 'OrderAccepted' });
  const fresh = facade.client();
  const query = 'subscription { positionChanges { status } }';
  expect(await fresh.send({ query, variables: {} }, { transport: 'socket' })).toEqual({
    data: { positionChanges: { status: 'LIVE' } },
  });
  const session = await fresh.send({ query: '{ session { balance } }', variables: {} });
  expect(session).toMatchObject({ errors: [{ extensions: { code: 'GATEWAY_CONTRACT' } }] });
});
