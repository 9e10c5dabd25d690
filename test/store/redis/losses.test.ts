import { once } from 'node:events';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import type { OrderRecords, ReserveRequest } from '../../../src/store/order-records.ts';
import { RedisAccountVersions } from '../../../src/store/redis/account-versions.ts';
import { RedisConnection } from '../../../src/store/redis/connection.ts';
import { OrderStore } from '../../../src/store/redis/order-store.ts';
import { RedisHealth } from '../../../src/store/redis/redis-health.ts';
import { DECLARE } from '../../../src/store/redis/redis-operator.ts';
import { LOOK } from '../../../src/store/redis/store-look.ts';
import { accountNamed } from '../../support/accounts.ts';
import { datesBy } from '../../support/dates.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { keyOf } from '../../support/order-keys.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { accepted, keyFor, request, reserved, unknown } from '../order-records-contract.ts';
import { isMarked, startCopiedRedis } from './failovers.ts';
import {
  DURABLE,
  FAR_MS,
  MARKER,
  openOperator,
  openReadyReplica,
  openReplica,
  recordName,
} from './replica.ts';

const TOO_OLD = { name: 'KeyTooOldError', earlierUnknown: true };
const MINUTE_MS = 60_000;

/** The request of an order whose key is made this long after now. */
const madeIn = (name: string, aheadMs: number) => ({
  ...request('1', name),
  key: keyOf(name, Date.now() + aheadMs),
});

async function restart(redis: TestRedis): Promise<void> {
  await redis.kill();
  await redis.start();
}

async function promote(redis: TestRedis): Promise<void> {
  await redis.command('REPLICAOF', 'NO', 'ONE');
}

/** Waits until the connections are restored and the order is refused because of a loss. */
async function expectLoss(records: OrderRecords, order: ReserveRequest): Promise<void> {
  await eventually(async () => {
    await expect(records.reserve(order)).rejects.toMatchObject(TOO_OLD);
  });
}

/** A replica of the service whose clock, and the gateway's, a test can set forward. */
async function openMovable(url: string, options: Parameters<typeof openReadyReplica>[1] = {}) {
  const date = { aheadMs: 0 };
  const clock = { ...systemClock, date: () => Date.now() + date.aheadMs };
  return { date, ...(await openReadyReplica(url, { ...options, clock })) };
}

/** A connection whose replies wait for a promise. */
async function connectLate(url: string, held: Promise<void>) {
  class LateConnection extends RedisConnection {
    override async run(...call: Parameters<RedisConnection['run']>) {
      const reply = await super.run(...call);
      await held;
      return reply;
    }
  }
  const redis = new Redis(url);
  await once(redis, 'ready');
  const connection = new LateConnection(redis, FAR_MS, new RedisHealth(() => {}));
  return { connection, [Symbol.asyncDispose]: async () => connection.close() };
}

/** Waits until the end of the loss is decided. Keys that are made three seconds later are taken. */
async function isDecided({ records }: { readonly records: OrderRecords }): Promise<void> {
  await eventually(() => records.status.losses > 0 && Number(records.status.sinceMs) > 0);
}

describeWithRedis('a loss of order records in Redis', (serverPath) => {
  test('after a restart known keys are answered, and unknown keys from before are refused', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    await using one = await openMovable(redis.url);
    const { records, date } = one;
    await records.settle(await reserved(records, '1', 'k'), accepted);
    await records.voidKey(keyFor('1', 'voided'));
    await restart(redis);
    await isDecided(one);
    const early = madeIn('early', 1_900);
    await expectLoss(records, request('1', 'old'));
    await expectLoss(records, early);
    expect(await records.reserve(request('1', 'k'))).toMatchObject({
      record: { outcome: accepted },
    });
    await expect(records.find(early.account, early.key)).rejects.toMatchObject(TOO_OLD);
    await expect(records.voidKey(keyFor('1', 'old'))).rejects.toMatchObject(TOO_OLD);
    // A key that was closed before the loss may have lost its order before that.
    await expect(records.voidKey(keyFor('1', 'voided'))).rejects.toMatchObject(TOO_OLD);
    date.aheadMs = 4_000;
    await expectLoss(records, early);
    expect(await records.reserve(madeIn('late', 4_000))).toMatchObject({ reserved: true });
    expect(one.warnings.filter((line) => line.includes('may lack orders'))).toHaveLength(1);
    expect(records.status.losses).toBe(1);
  });

  test('until the gateway’s clock is measured the end of a loss is not decided', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    let skewMs: number | null = 0;
    await using one = await openReadyReplica(redis.url, {
      dates: datesBy(systemClock, () => skewMs),
    });
    await reserved(one.records, '1', 'k');
    skewMs = null;
    await restart(redis);
    await eventually(() => one.records.status.losses > 0);
    const reserve = () => one.records.reserve(madeIn('new', 1_000));
    await eventually(async () => {
      await expect(reserve()).rejects.toThrow('the clock of the gateway is not known yet');
    });
    // An order may have seen the loss before the next look did.
    await eventually(() => one.records.status.sinceMs === null);
    skewMs = 0;
    await isDecided(one);
    await expect(reserve()).rejects.toMatchObject(TOO_OLD);
  });

  test('a process detects that Redis was emptied and used again, and writes its outcomes back', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    const order = await reserved(one.records, '1', 'k');
    await redis.command('FLUSHALL');
    await using fresh = await openReadyReplica(redis.url, { takesOldKeys: false });
    await expect(fresh.records.reserve(request('1', 'k'))).rejects.toMatchObject(TOO_OLD);
    await one.records.settle(order, unknown);
    await one.records.settle(order, accepted);
    const { asked, id } = order;
    expect(await fresh.records.find(order.account, order.key)).toMatchObject({
      id,
      asked,
      outcome: accepted,
    });
  });

  test('a hold that a loss took is written back by a process that remembers it', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    const operator = await openOperator(redis.url);
    await operator.hold(true);
    operator.close();
    await eventually(() => one.records.status.holdReason !== null);
    await redis.command('FLUSHALL');
    await eventually(async () => expect(await redis.command('HGET', MARKER, 'held')).toBe('1'));
    expect(one.records.status.holdReason).not.toBe(null);
  });

  test('a clock that is behind the records is reported', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openMovable(redis.url);
    await redis.command('HSET', MARKER, 'since', String(Date.now() + 10 * MINUTE_MS));
    await eventually(() => one.records.status.degradedReason?.includes('clock is behind') === true);
    await expect(one.records.reserve(madeIn('k', 0))).rejects.toMatchObject(TOO_OLD);
    one.date.aheadMs = 11 * MINUTE_MS;
    await eventually(() => one.records.status.degradedReason === null);
    expect(await one.records.reserve(madeIn('k', 11 * MINUTE_MS))).toMatchObject({
      reserved: true,
    });
  });

  test('records without their marker are a loss, also to a new process', async () => {
    await using redis = await startTestRedis(serverPath);
    {
      await using one = await openReadyReplica(redis.url);
      await one.records.settle(await reserved(one.records, '1', 'k'), accepted);
    }
    await redis.command('DEL', MARKER);
    await using next = await openReadyReplica(redis.url);
    expect(next.records.status.losses).toBe(1);
    await expect(next.records.reserve(request('1', 'new'))).rejects.toMatchObject(TOO_OLD);
    expect(await next.records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
  });

  test('a store that knows nothing of the last loss that a process knows is a loss, once', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    await using two = await openReadyReplica(redis.url);
    await reserved(one.records, '1', 'k');
    // An older primary that is used again has an older list.
    await redis.command('HSET', MARKER, 'losses', 'another');
    await expect(one.records.reserve(request('1', 'new'))).rejects.toMatchObject(TOO_OLD);
    await eventually(() => two.records.status.losses > 0);
    await isDecided(one);
    expect([one.records.status.losses, two.records.status.losses]).toEqual([1, 1]);
  });

  test('is counted once, even if the replies of two connections arrive out of order', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    const warnings: string[] = [];
    const held = Promise.withResolvers<void>();
    await using writer = await connectLate(redis.url, held.promise);
    const options = { ...one.options, onWarn: (line: string) => void warnings.push(line) };
    const store = new OrderStore(one.records.redis, writer.connection, options);
    await store.run(LOOK, {});
    const late = store.write(DECLARE, {});
    await eventually(async () =>
      expect(String(await redis.command('HGET', MARKER, 'losses')).split(' ')).toHaveLength(2),
    );
    await one.records.store.write(DECLARE, {});
    await store.run(LOOK, {});
    held.resolve();
    await late;
    await store.run(LOOK, {});
    expect(store.losses).toBe(1);
    expect(warnings).toHaveLength(1);
  });

  test('an operator can declare a loss', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openMovable(redis.url);
    const operator = await openOperator(redis.url);
    await operator.declareIncomplete();
    expect((await operator.status()).sinceMs).toBe(null);
    operator.close();
    await expect(one.records.reserve(request('1', 'k'))).rejects.toMatchObject(TOO_OLD);
    await isDecided(one);
    one.date.aheadMs = 4_000;
    expect(await one.records.reserve(madeIn('k', 4_000))).toMatchObject({ reserved: true });
  });

  test('a new store is not a loss, but keys from before are refused', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openMovable(redis.url, { takesOldKeys: false });
    expect(one.warnings).toEqual([]);
    await eventually(() => one.records.status.sinceMs !== null);
    await expect(one.records.reserve(madeIn('early', 1_900))).rejects.toMatchObject(TOO_OLD);
    one.date.aheadMs = 4_000;
    expect(await one.records.reserve(madeIn('k', 4_000))).toMatchObject({ reserved: true });
    await using two = await openReadyReplica(redis.url);
    expect(two.warnings).toEqual([]);
    expect(two.records.status.losses).toBe(0);
  });

  test('keys of another version of the service are refused in one line, also while they are in use', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    await reserved(one.records, '1', 'k');
    await redis.command('HSET', MARKER, 'version', '6');
    const message = 'another version of this program';
    await expect(openReplica(redis.url)).rejects.toThrow(message);
    await eventually(() => one.records.status.degradedReason?.includes(message) === true);
    await expect(one.records.reserve(request('1', 'new'))).rejects.toThrow(message);
    await redis.command('HSET', MARKER, 'version', '5');
    await eventually(() => one.records.status.degradedReason === null);
    await reserved(one.records, '1', 'new');
  });
});

describeWithRedis('a promotion', (serverPath) => {
  test('is a loss, even if the replica had all writes', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    const [copy] = redis.copies;
    const promoted = copy?.redis as TestRedis;
    {
      await using one = await openReadyReplica(redis.primary.url, { redisReplicas: 1 });
      const order = await eventually(() => reserved(one.records, '1', 'k'));
      await one.records.settle(order, accepted);
      await isMarked(promoted, 1);
    }
    await redis.primary.kill();
    await promote(promoted);
    const options = { redisReplicas: 1, redisTimeoutMs: 1_000 };
    const one = await openMovable(promoted.url, options);
    await using _ = one;
    expect(one.records.status.losses).toBe(1);
    expect(await one.records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
    // The loss must be on enough replicas of Redis before its end is decided.
    await expectLoss(one.records, request('1', 'old'));
    expect(one.records.status.sinceMs).toBe(null);
    await redis.primary.start();
    const { port } = new URL(promoted.url);
    await redis.primary.command('CONFIG', 'SET', 'masterauth', new URL(promoted.url).password);
    await redis.primary.command('REPLICAOF', '127.0.0.1', port);
    await isDecided(one);
    one.date.aheadMs = 4_000;
    expect(await one.records.reserve(madeIn('late', 4_000))).toMatchObject({ reserved: true });
  });

  test('is needed before a demoted primary is used again, because it may lack later writes', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    await reserved(one.records, '1', 'k');
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    const account = accountNamed('1');
    const unavailable = { name: 'RecordsUnavailableError', earlierUnknown: true };
    for (const key of ['k', 'of the new primary']) {
      await expect(one.records.find(account, keyOf(key))).rejects.toMatchObject(unavailable);
    }
    const versions = new RedisAccountVersions(one.records, { clock: systemClock });
    await expect(versions.read(account)).rejects.toMatchObject(unavailable);
    await eventually(() => expect(one.records.status.degradedReason).not.toBe(null));
    await promote(redis);
    await eventually(() => one.records.status.degradedReason === null);
    expect(await one.records.find(account, keyOf('k'))).not.toBe(null);
  });

  test('of a former primary that became a replica is a loss', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    const { primary, copies } = redis;
    await using one = await openReadyReplica(primary.url, { redisReplicas: 0 });
    await reserved(one.records, '1', 'k');
    const [copy] = copies;
    const other = copy?.redis as TestRedis;
    await eventually(async () => {
      expect(await other.command('EXISTS', recordName('1', 'k'))).toBe(1);
    });
    await primary.command('CONFIG', 'SET', 'masterauth', new URL(other.url).password);
    await promote(other);
    await primary.command('REPLICAOF', '127.0.0.1', new URL(other.url).port);
    await eventually(async () =>
      expect(await primary.command('INFO', 'replication')).toContain('master_link_status:up'),
    );
    await promote(primary);
    await eventually(() => one.records.status.losses > 0);
    expect(await primary.command('EXISTS', recordName('1', 'k'))).toBe(1);
    await expect(one.records.reserve(request('1', 'new'))).rejects.toMatchObject(TOO_OLD);
  });
});
