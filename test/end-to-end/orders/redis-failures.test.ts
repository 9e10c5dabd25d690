import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { newKey } from '../../support/order-keys.ts';
import { readinessOf } from '../../support/readiness.ts';
import { REDIS_PASSWORD, startTestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import type { OrderClient } from './order-client.ts';
import { startOrderFacade } from './order-facade.ts';
import { limitOrder, marketOrder, type Reply } from './order-request.ts';

const UNAVAILABLE = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE' };

/** Two replicas of the service with one Redis, behind a proxy. */
async function startReplicas(serverPath: string) {
  await using started = new AsyncDisposableStack();
  const redis = started.use(await startTestRedis(serverPath));
  const proxy = started.use(await startSwitchboard(redis.url));
  const environment = { REDIS_URL: `redis://:${REDIS_PASSWORD}@${proxy.address}` };
  const facade = started.use(await startOrderFacade(environment));
  const other = started.use(await startOrderFacade(environment, facade.sandbox));
  const { sandbox, url } = facade;
  const replicas = { redis, proxy, sandbox, url, one: facade.client(), other: other.client() };
  expect(await placeUntilAccepted(replicas.one, 'first')).toMatchObject({ type: 'OrderAccepted' });
  const owned = started.move();
  return { ...replicas, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Places the order until it has an outcome. Until then it may only be refused because the records are unavailable. */
async function placeUntilAccepted(replica: OrderClient, key: string): Promise<Reply> {
  return eventually(async () => {
    const reply = await replica.place(marketOrder(key));
    if (reply.kind === 'outcome') return reply;
    expect(reply).toMatchObject(UNAVAILABLE);
    // Makes `eventually` try again.
    return false as never;
  });
}

describeWithRedis('orders are sent only once, and are accepted again soon,', (serverPath) => {
  test.concurrent.each(['killed, and restarts empty', 'frozen'])(
    'if Redis is %s (meanwhile they are refused before they are sent)',
    async (failure) => {
      const isFrozen = failure === 'frozen';
      await using replicas = await startReplicas(serverPath);
      const { redis, sandbox, one, other } = replicas;
      if (isFrozen) redis.signal('SIGSTOP');
      else await redis.kill();
      const replies = [
        one.place(marketOrder('after')),
        one.place(limitOrder('after it'), { transport: 'socket' }),
      ];
      expect(await Promise.all(replies)).toMatchObject([UNAVAILABLE, UNAVAILABLE]);
      // This replica cannot know whether the other replica has sent the order.
      const unknown = { ...UNAVAILABLE, earlierUnknown: true };
      const first = marketOrder('first');
      const asked = [other.place(first), other.placedOrder('first'), other.void('first')];
      expect(await Promise.all(asked)).toMatchObject([unknown, unknown, unknown]);
      // The service checks Redis twice a second, so it soon reports the failure.
      await eventually(async () => {
        const { reasons } = await readinessOf(replicas.url);
        expect(reasons).toContain('order-store');
      });

      if (isFrozen) {
        redis.signal('SIGCONT');
        const repeated = { type: 'OrderAccepted', replayed: true };
        expect(await placeUntilAccepted(other, 'first')).toMatchObject(repeated);
        expect(await placeUntilAccepted(other, 'after')).toMatchObject({ type: 'OrderAccepted' });
      } else {
        await redis.start();
        // Orders whose records Redis has lost are not sent again.
        await eventually(async () => {
          for (const key of ['first', 'after']) {
            expect(await other.place(marketOrder(key))).toMatchObject(unknown);
          }
          expect(await readinessOf(replicas.url)).toEqual({ status: 'ok' });
        });
        // A key that was made after the loss is accepted within seconds.
        const placed = await eventually(async () => {
          const reply = await other.place(marketOrder('later', 'AAPL', newKey()));
          expect(reply).toMatchObject({ type: 'OrderAccepted' });
          return reply;
        });
        expect(placed).toMatchObject({ replayed: false });
      }
      const sent = isFrozen ? ['first', 'after'] : ['first', 'later'];
      expect(sandbox.orders().map(({ comment }) => comment)).toEqual(sent);
      expect(sandbox.calls('placeLimitOrder')).toBe(0);
    },
  );

  test.concurrent('if each answer of Redis takes 200 ms', async () => {
    await using replicas = await startReplicas(serverPath);
    // The proxy delays in each direction.
    replicas.proxy.delayMs = 100;
    const reply = await placeUntilAccepted(replicas.one, 'order');
    expect(reply).toMatchObject({ type: 'OrderAccepted', replayed: false });
    expect(await placeUntilAccepted(replicas.other, 'order')).toEqual({ ...reply, replayed: true });
    expect(replicas.sandbox.orders().map(({ comment }) => comment)).toEqual(['first', 'order']);
  });
});
