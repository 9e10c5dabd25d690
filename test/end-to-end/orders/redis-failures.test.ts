import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { readinessOf } from '../../support/readiness.ts';
import { REDIS_PASSWORD, startTestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import type { OrderClient } from './order-client.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, type Reply, waiting } from './order-request.ts';

const UNAVAILABLE = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE' };

/** Two replicas, each with its own connection to their Redis. */
async function startWorld(serverPath: string) {
  await using started = new AsyncDisposableStack();
  const redis = started.use(await startTestRedis(serverPath));
  const proxy = started.use(await startSwitchboard(redis.url));
  const environment = { REDIS_URL: `redis://:${REDIS_PASSWORD}@${proxy.address}` };
  const facade = started.use(await startOrderFacade(environment));
  const other = started.use(await startOrderFacade(environment, facade.sandbox));
  const { sandbox, url } = facade;
  const world = { redis, proxy, sandbox, url, one: facade.client(), other: other.client() };
  expect(await placedBy(world.one, 'first')).toMatchObject({ type: 'OrderAccepted' });
  const owned = started.move();
  return { ...world, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Places the order until it is accepted; meanwhile it may only be refused. */
async function placedBy(replica: OrderClient, key: string): Promise<Reply> {
  return eventually(async () => {
    const reply = await replica.place(buying(key));
    if (reply.kind === 'outcome') return reply;
    expect(reply).toMatchObject(UNAVAILABLE);
    return false as never;
  });
}

describeWithRedis('orders are sent once and soon accepted again', (serverPath) => {
  test.concurrent.each(['killed, and restarts empty', 'frozen'])(
    'if Redis is %s (meanwhile they are refused before they are sent)',
    async (fate) => {
      await using world = await startWorld(serverPath);
      const { redis, sandbox, one, other } = world;
      if (fate === 'frozen') redis.signal('SIGSTOP');
      else await redis.kill();
      const replies = [
        one.place(buying('after')),
        one.place(waiting('after it'), { transport: 'socket' }),
      ];
      expect(await Promise.all(replies)).toMatchObject([UNAVAILABLE, UNAVAILABLE]);
      // Another replica may have sent it without this one's knowledge.
      const unknown = { ...UNAVAILABLE, earlierUnknown: true };
      const asked = [other.place(buying('first')), other.placed('first'), other.void('first')];
      expect(await Promise.all(asked)).toMatchObject([unknown, unknown, unknown]);
      // The service checks Redis twice a second.
      await eventually(async () => {
        expect(await readinessOf(world.url)).toMatchObject({ status: 'degraded' });
      });

      if (fate === 'frozen') redis.signal('SIGCONT');
      else await redis.start();
      if (fate === 'frozen') {
        const repeated = { type: 'OrderAccepted', replayed: true };
        expect(await placedBy(other, 'first')).toMatchObject(repeated);
        expect(await placedBy(other, 'after')).toMatchObject({ type: 'OrderAccepted' });
      } else {
        // Orders whose records Redis has lost are not sent again; a key that was made later is accepted.
        await eventually(async () => {
          for (const key of ['first', 'after']) {
            expect(await other.place(buying(key))).toMatchObject(unknown);
          }
          const { reasons } = await readinessOf(world.url);
          expect(reasons).toEqual(['order-gap']);
        });
        const keyMade = () => new Date(Date.now() + 59_000).toISOString();
        const { mutation, input } = buying('later');
        await eventually(async () => {
          // Each answer of the gateway measures its clock.
          await other.send({ query: '{ customerId }', variables: {} });
          const placed = await other.place({ mutation, input: { ...input, keyMade: keyMade() } });
          expect(placed).toMatchObject({ type: 'OrderAccepted' });
        });
      }
      const sent = fate === 'frozen' ? ['first', 'after'] : ['first', 'later'];
      expect(sandbox.orders().map(({ comment }) => comment)).toEqual(sent);
      expect(sandbox.calls('placeLimitOrder')).toBe(0);
    },
  );

  test.concurrent('if each answer of Redis takes 200 ms', async () => {
    await using world = await startWorld(serverPath);
    world.proxy.delayMs = 100;
    const reply = await placedBy(world.one, 'order');
    expect(reply).toMatchObject({ type: 'OrderAccepted', replayed: false });
    expect(await placedBy(world.other, 'order')).toEqual({ ...reply, replayed: true });
    expect(world.sandbox.orders().map(({ comment }) => comment)).toEqual(['first', 'order']);
  });
});
