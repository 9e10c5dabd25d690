import { expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { connectRedis } from '../../../src/store/redis/connection.ts';
import { RELEASE, RESERVE } from '../../../src/store/redis/order-scripts.ts';
import { OrderStore } from '../../../src/store/redis/order-store.ts';
import { datesBy } from '../../support/dates.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { keyOf } from '../../support/order-keys.ts';
import { startTestRedis } from '../../support/redis.ts';
import { withResources } from '../opened-records.ts';
import { rejected, request, reserved } from '../order-records-contract.ts';
import { itIsAStoreOfOrderRecords } from '../store-contract.ts';
import { openOperator, openReadyReplica, openReplica, recordName } from './replica.ts';

describeWithRedis('order records in Redis', (serverPath) => {
  itIsAStoreOfOrderRecords(
    async (max, maxPerAccount = max) => {
      const redis = await startTestRedis(serverPath);
      const { records } = await openReadyReplica(redis.url, { max, maxPerAccount });
      return withResources(records, redis);
    },
    async () => {
      const redis = await startTestRedis(serverPath);
      const bounds = { max: 2_000, maxPerAccount: 2_000 };
      const maker = await openReadyReplica(redis.url, bounds);
      const other = await openReadyReplica(redis.url, bounds);
      const operator = await openOperator(redis.url);
      return {
        replicas: [maker.records, other.records],
        operator,
        async [Symbol.asyncDispose]() {
          operator.close();
          await maker.records.close();
          await other.records.close();
          await redis[Symbol.asyncDispose]();
        },
      };
    },
  );

  test('the removal of a rejected record is dated by the process whose clock is ahead', async () => {
    await using redis = await startTestRedis(serverPath);
    const bounds = { max: 10, maxPerAccount: 2 };
    const clock = { ...systemClock, date: () => Date.now() + 30_000 };
    await using ahead = await openReplica(redis.url, { ...bounds, clock });
    await using other = await openReplica(redis.url, bounds);
    for (const key of ['r1', 'r2']) {
      await other.records.settle(await reserved(other.records, '1', key), rejected);
    }
    await reserved(ahead.records, '1', 'k1');
    // By the clock that is 30 seconds ahead, this key is older than the removal of the record.
    const young = { ...request('1', 'r1'), key: keyOf('young', Date.now() + 1_900) };
    await expect(other.records.reserve(young)).rejects.toMatchObject({ name: 'KeyTooOldError' });
    await expect(ahead.records.reserve(young)).rejects.toMatchObject({ name: 'KeyTooOldError' });
  });

  test('an order that was read as overdue stays overdue after the clock is set back, and its key is not freed', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReplica(redis.url);
    const order = await reserved(one.records, '1', 'k', 1);
    const find = () => one.records.find(order.account, order.key);
    await eventually(async () => expect(await find()).toMatchObject({ pendingMs: 0 }));
    // Simulates a primary with an earlier clock, by which the order is not overdue.
    await redis.command('HSET', recordName('1', 'k'), 'deadline', `${Date.now() + 60_000}`);
    expect(await find()).toMatchObject({ outcome: null, pendingMs: 0 });
    await one.records.release(order);
    expect(await find()).toMatchObject({ outcome: null, pendingMs: 0 });
  });

  test('a reservation that arrives after its release is refused', async () => {
    await using redis = await startTestRedis(serverPath);
    const common = { redisUrl: redis.url, prefix: 'trading-graph:', onWarn() {} };
    const connection = await connectRedis(common);
    const needs = { redisReplicas: 0, requiresAppendonly: false, max: 10, takesOldKeys: true };
    const options = { ...common, ...needs, clock: systemClock, dates: datesBy() };
    const store = new OrderStore(connection, connection, options);
    await store.write(RELEASE, { name: '1:k', id: 'late' });
    const madeMs = Date.now();
    const order = { digest: 'd', madeMs, reservedAtMs: madeMs, pendingMs: 60_000, asked: 'null' };
    const reserve = (id: string) => store.write(RESERVE, { name: '1:k', id, ...order });
    expect(await reserve('late')).toMatchObject({ kind: 'unusable' });
    expect(await reserve('next')).toEqual({ kind: 'reserved' });
    connection.close();
  });
});
