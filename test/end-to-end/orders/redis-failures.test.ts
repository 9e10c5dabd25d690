import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { REDIS_PASSWORD, startTestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, type Reply } from './order-request.ts';

/** Two replicas that reach their Redis at an address which may lead elsewhere later. */
async function startWorld(serverPath: string, args: readonly string[] = []) {
  await using started = new AsyncDisposableStack();
  const redis = started.use(await startTestRedis(serverPath, { args }));
  const address = started.use(await startSwitchboard(redis.url));
  const environment = { REDIS_URL: `redis://:${REDIS_PASSWORD}@${address.address}` };
  const one = started.use(await startOrderFacade(environment));
  const other = started.use(await startOrderFacade(environment, one.sandbox));
  const world = { redis, address, sandbox: one.sandbox, one: one.client(), other: other.client() };
  expect(await world.one.place(buying('first'))).toMatchObject({ type: 'OrderAccepted' });
  const owned = started.move();
  return { ...world, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

type World = Awaited<ReturnType<typeof startWorld>>;

/** Places the order as often as it takes; meanwhile it may be refused, never more. */
async function placedBy(replica: World['one'], key: string): Promise<Reply> {
  return eventually(async () => {
    const reply = await replica.place(buying(key));
    if (reply.kind === 'outcome') return reply;
    expect(reply).toMatchObject({ code: 'IDEMPOTENCY_UNAVAILABLE' });
    return false as never;
  });
}

async function expectSentOnce(world: World): Promise<void> {
  expect(await placedBy(world.other, 'order')).toMatchObject({
    type: 'OrderAccepted',
    replayed: true,
  });
  expect(await placedBy(world.other, 'next')).toMatchObject({ replayed: false });
  const carriedOut = world.sandbox.orders().map(({ comment }) => comment);
  expect(carriedOut).toEqual(['first', 'order', 'next']);
}

describeWithRedis('an order is sent once and taken again soon', (serverPath) => {
  test.concurrent('where each answer of Redis takes 200 ms', async () => {
    await using world = await startWorld(serverPath);
    world.address.delayMs = 100;
    const reply = await placedBy(world.one, 'order');
    expect(reply).toMatchObject({ type: 'OrderAccepted', replayed: false });
    await expectSentOnce(world);
  });

  test.concurrent('where Redis restarts empty', async () => {
    await using world = await startWorld(serverPath);
    await world.one.place(buying('order'));
    await world.redis.kill();
    await world.redis.start();
    await expectSentOnce(world);
  });

  test.concurrent('where a replica of Redis is promoted that lacks the last writes', async () => {
    await using world = await startWorld(serverPath, ['--repl-diskless-sync-delay', '0']);
    const args = ['--replicaof', `127.0.0.1 ${new URL(world.redis.url).port}`];
    await using replica = await startTestRedis(serverPath, { args });
    await eventually(async () => Number(await replica.command('DBSIZE')) > 0);
    await replica.command('REPLICAOF', 'NO', 'ONE');
    await world.one.place(buying('order'));
    await world.redis.kill();
    world.address.to(replica.url);
    await expectSentOnce(world);
  });
});
