import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { startTestRedis } from '../../support/redis.ts';
import type { OrderClient } from './order-client.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying } from './order-request.ts';

const folder = ownFolder();
const UNAVAILABLE = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE' };
const REPLAYED = { type: 'OrderAccepted', replayed: true };

/** A facade on a file that the test can lock: `IMMEDIATE` against writes, `EXCLUSIVE` against reads as well. */
async function startWorld() {
  await using started = new AsyncDisposableStack();
  const path = join(folder.path, 'orders.db');
  const facade = started.use(await startOrderFacade({ ORDER_STORE: path }));
  const file = started.adopt(new DatabaseSync(path), (each) => each.close());
  const lock = (mode: 'IMMEDIATE' | 'EXCLUSIVE') => file.exec(`BEGIN ${mode}`);
  const owned = started.move();
  return {
    ...{ sandbox: facade.sandbox, client: facade.client(), lock },
    unlock: () => file.exec('ROLLBACK'),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Every way to ask what became of a key. */
function asking(client: OrderClient, key: string) {
  return Promise.all([client.place(buying(key)), client.placed(key), client.void(key)]);
}

test('a key that has a record is answered from it while nothing can be written', async () => {
  await using world = await startWorld();
  const { client, sandbox, lock, unlock } = world;
  const lost = client.place(buying('lost'), {
    disconnectsAfter: eventually(() => expect(sandbox.orders()).toHaveLength(1)),
  });
  await lost;
  await eventually(async () => expect(await client.placed('lost')).toMatchObject(REPLAYED));
  lock('IMMEDIATE');
  expect(await asking(client, 'lost')).toMatchObject([REPLAYED, REPLAYED, REPLAYED]);
  // The records say that no other request had this key.
  expect(await client.place(buying('new'))).toMatchObject({
    ...UNAVAILABLE,
    earlierUnknown: false,
    message: 'This request was not sent, and no earlier one with its key is recorded.',
  });
  expect(await client.placed('new')).toEqual({ kind: 'nothing' });
  unlock();
  lock('EXCLUSIVE');
  const unknown = { ...UNAVAILABLE, earlierUnknown: true };
  const answers = await asking(client, 'lost');
  expect(answers).toMatchObject([unknown, unknown, unknown]);
  expect(JSON.stringify(answers)).not.toContain('order was not sent');
  unlock();
  expect(sandbox.calls('openPosition')).toBe(1);
});

test('an outcome that waits to be written answers before the record that is still pending', async () => {
  await using world = await startWorld();
  const { client, sandbox, lock, unlock } = world;
  sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 500, times: 1 });
  const placing = client.place(buying('k'));
  await eventually(() => expect(sandbox.calls('openPosition')).toBe(1));
  lock('EXCLUSIVE');
  expect(await placing).toMatchObject({ type: 'OrderAccepted', replayed: false });
  expect(await asking(client, 'k')).toMatchObject([REPLAYED, REPLAYED, REPLAYED]);
  const other = { ...buying('k', 'MSFT') };
  expect(await client.place(other)).toMatchObject({ code: 'BAD_USER_INPUT' });
  unlock();
  expect(sandbox.calls('openPosition')).toBe(1);
});

test('while op 10 is away nobody claims of an unproved token that an earlier order was not sent', async () => {
  await using world = await startWorld();
  const { client, sandbox } = world;
  sandbox.fail({ operation: 'getSession', kind: 'status', status: 500 });
  const unproved = { code: 'GATEWAY_UNAVAILABLE', earlierUnknown: true };
  expect(await asking(client, 'k')).toMatchObject([unproved, unproved, unproved]);
  sandbox.clearFaults();
  await client.placed('k');
  sandbox.fail({ operation: 'openPosition', kind: 'status', status: 401, times: 1 });
  // The key was reserved for it, so that there was no earlier one.
  expect(await client.place(buying('k'))).toMatchObject({ earlierUnknown: false });
});

describeWithRedis('while Redis answers nothing', (redisServerPath) => {
  test('whether another replica has sent an order is not known', async () => {
    await using redis = await startTestRedis(redisServerPath);
    await using one = await startOrderFacade({ REDIS_URL: redis.url });
    await using other = await startOrderFacade({ REDIS_URL: redis.url }, one.sandbox);
    const [placer, asker] = [one.client(), other.client()];
    await eventually(async () => {
      expect(await placer.place(buying('k'))).toMatchObject({ type: 'OrderAccepted' });
    });
    expect(await asker.placed('k')).toMatchObject(REPLAYED);
    redis.signal('SIGSTOP');
    const unknown = { ...UNAVAILABLE, earlierUnknown: true };
    expect(await asking(asker, 'k')).toMatchObject([unknown, unknown, unknown]);
    redis.signal('SIGCONT');
    await eventually(async () => {
      expect(await asker.place(buying('k'))).toMatchObject(REPLAYED);
    });
    expect(one.sandbox.calls('openPosition')).toBe(1);
  });
});
