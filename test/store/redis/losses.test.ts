import { expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import type { OrderRecords, ReserveRequest } from '../../../src/store/order-records.ts';
import { RedisAccountVersions } from '../../../src/store/redis/account-versions.ts';
import { accountNamed } from '../../support/accounts.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { accepted, request, reserved, unknown, voidRequest } from '../order-records-contract.ts';
import { isMarked, startCopiedRedis, startCopy } from './failovers.ts';
import { DURABLE, MARKER, openOperator, openReadyReplica, openReplica, PREFIX } from './replica.ts';

const GAP = { name: 'RecordsGapError', earlierUnknown: true };

/** The request of an order whose key is made this long after now. A key made within a minute of a gap's end is refused. */
const madeIn = (key: string, aheadMs: number) => ({
  ...request('1', key),
  keyMadeMs: Date.now() + aheadMs,
});

async function restart(redis: TestRedis): Promise<void> {
  await redis.kill();
  await redis.start();
}

async function promote(redis: TestRedis): Promise<void> {
  await redis.command('REPLICAOF', 'NO', 'ONE');
}

/** Waits until the connections are restored and the request is refused because of a gap. */
async function expectGap(records: OrderRecords, order: ReserveRequest): Promise<void> {
  await eventually(async () => {
    await expect(records.reserve(order)).rejects.toMatchObject(GAP);
  });
}

describeWithRedis('a loss of order records in Redis', (serverPath) => {
  test('a restart begins a gap, in which known keys are answered and unknown keys from before its end are refused', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    await using one = await openReadyReplica(redis.url);
    await one.records.settle(await reserved(one.records, '1', 'k'), accepted);
    await restart(redis);
    await eventually(() => one.records.status.gapReason !== null);
    await expectGap(one.records, request('1', 'new'));
    await expectGap(one.records, madeIn('new', 30_000));
    const repeat = await one.records.reserve(request('1', 'k'));
    expect(repeat).toMatchObject({ record: { outcome: accepted } });
    await expect(one.records.find(accountNamed('1'), 'new')).rejects.toMatchObject(GAP);
    expect(await one.records.voidKey(voidRequest('1', 'void'))).toMatchObject({ voided: true });
    expect(await one.records.reserve(madeIn('new', 90_000))).toMatchObject({ reserved: true });
    expect(one.warnings.filter((line) => line.includes('may lack orders'))).toHaveLength(1);
  });

  test('until the gateway’s clock is measured the gap has no end, so every unknown key is refused', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    let skewMs: number | null = null;
    await using one = await openReadyReplica(redis.url, { gatewaySkewMs: () => skewMs });
    await reserved(one.records, '1', 'k');
    await restart(redis);
    await eventually(() => one.records.status.gapReason !== null);
    const reserve = () => one.records.reserve(madeIn('new', 120_000));
    await expect(reserve()).rejects.toMatchObject({ ...GAP, untilMs: null });
    skewMs = 0;
    expect(await reserve()).toMatchObject({ reserved: true });
  });

  test('the end of the gap is later by the largest difference between a process’s clock and the gateway’s', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    {
      await using fast = await openReadyReplica(redis.url, { gatewaySkewMs: () => -50_000 });
      await reserved(fast.records, '1', 'k');
    }
    await using one = await openReadyReplica(redis.url);
    await restart(redis);
    await eventually(() => one.records.status.gapReason?.includes('keys made before') === true);
    // Here the gap ends 50 seconds later, so a key is accepted if it is made more than 110 seconds after now.
    await expectGap(one.records, madeIn('new', 100_000));
    expect(await one.records.reserve(madeIn('new', 130_000))).toMatchObject({ reserved: true });
  });

  test('a process detects that Redis was emptied and used again, and writes its outcomes back', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    const order = await reserved(one.records, '1', 'k');
    await redis.command('FLUSHALL');
    await using fresh = await openReadyReplica(redis.url, { graceMs: 2_000 });
    await expect(fresh.records.reserve(request('1', 'k'))).rejects.toMatchObject(GAP);
    await one.records.settle(order, unknown);
    await one.records.settle(order, accepted, { sentAtMs: 1, answeredAtMs: 2 });
    const { asked, id } = order;
    expect(await fresh.records.find(order.account, 'k')).toMatchObject({
      id,
      asked,
      outcome: accepted,
      times: { sentAtMs: 1, answeredAtMs: 2 },
    });
    await eventually(async () => (await redis.command('HGET', MARKER, 'lossUntil')) !== null);
  });

  test('records without their marker are a loss, also to a new process', async () => {
    await using redis = await startTestRedis(serverPath);
    {
      await using one = await openReadyReplica(redis.url);
      await one.records.settle(await reserved(one.records, '1', 'k'), accepted);
    }
    await redis.command('DEL', MARKER);
    await using next = await openReadyReplica(redis.url);
    await expect(next.records.reserve(request('1', 'new'))).rejects.toMatchObject(GAP);
    expect(await next.records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
  });

  test('another id of the store than the id that a process remembers is a loss', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    await reserved(one.records, '1', 'k');
    await redis.command('HSET', MARKER, 'id', 'another');
    await expect(one.records.reserve(request('1', 'new'))).rejects.toMatchObject(GAP);
  });

  test('Redis keys of an earlier version of the service are a loss, and stop the orders of its processes', async () => {
    await using redis = await startTestRedis(serverPath);
    await redis.command('HSET', 'trading-graph:{orders}:epoch', 'epoch', 'e');
    await using one = await openReadyReplica(redis.url);
    await expect(one.records.reserve(request('1', 'k'))).rejects.toMatchObject(GAP);
    // Processes of the earlier version send no order while this field is set.
    expect(await redis.command('HGET', 'trading-graph:{orders}:epoch', 'held')).toBe('1');
  });

  test('an operator can declare a loss', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    const operator = await openOperator(redis.url);
    await operator.declareIncomplete();
    expect((await operator.status()).gapReason).toContain('incomplete');
    operator.close();
    await expect(one.records.reserve(request('1', 'k'))).rejects.toMatchObject(GAP);
    expect(await one.records.reserve(madeIn('k', 90_000))).toMatchObject({ reserved: true });
  });

  test('a new store is not a loss, but the first process logs a warning and delays orders by two seconds', async () => {
    await using redis = await startTestRedis(serverPath);
    const startedAtMs = performance.now();
    await using one = await openReplica(redis.url, { graceMs: 2_000 });
    expect(one.warnings.join()).toContain('is new');
    await reserved(one.records, '1', 'k');
    expect(performance.now() - startedAtMs).toBeGreaterThan(1_900);
    await using two = await openReadyReplica(redis.url);
    expect(two.warnings).toEqual([]);
    expect(two.records.status.gapReason).toBe(null);
  });

  test('a loss is over a day after the end of its gap', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    let aheadMs = 0;
    const clock = { ...systemClock, date: () => Date.now() + aheadMs };
    await using one = await openReadyReplica(redis.url, { clock });
    await restart(redis);
    await eventually(() => one.records.status.gapReason?.includes('keys made before') === true);
    aheadMs = 23.9 * 3_600_000;
    await expectGap(one.records, request('1', 'k'));
    aheadMs = 24.1 * 3_600_000;
    await reserved(one.records, '1', 'k');
  });
});

describeWithRedis('a promotion', (serverPath) => {
  test('is not a loss if orders wait for all replicas, so keys without keyMade are accepted', async () => {
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
    await using one = await openReplica(promoted.url, { redisReplicas: 1, redisTimeoutMs: 1_000 });
    expect(one.records.status.gapReason).toBe(null);
    expect(await one.records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
    // Orders are refused until the new primary has a replica.
    await expect(one.records.reserve(request('1', 'new'))).rejects.toThrow('0 of 1 replicas');
    await redis.primary.start();
    const { port } = new URL(promoted.url);
    await redis.primary.command('CONFIG', 'SET', 'masterauth', new URL(promoted.url).password);
    await redis.primary.command('REPLICAOF', '127.0.0.1', port);
    await eventually(() => reserved(one.records, '1', 'new'));
    expect(one.warnings).toEqual([]);
  });

  test('is distinguished from a restart of the primary with an old snapshot, which is a loss', async () => {
    await using primary = await startTestRedis(serverPath, {
      args: ['--repl-diskless-sync-delay', '0', '--save', '3600 1'],
    });
    await using copy = await startCopy(serverPath, primary);
    await using one = await openReadyReplica(primary.url, { redisReplicas: 1 });
    await eventually(() => reserved(one.records, '1', 'kept'));
    await primary.command('SAVE');
    await reserved(one.records, '1', 'lost');
    copy.line.cut();
    await restart(primary);
    expect(await primary.command('EXISTS', `${PREFIX}:record:1:kept`)).toBe(1);
    expect(await primary.command('EXISTS', `${PREFIX}:record:1:lost`)).toBe(0);
    await expectGap(one.records, request('1', 'lost'));
  });

  test('of one of two replicas stops orders until the other replica follows it', async () => {
    await using redis = await startCopiedRedis(serverPath, [0, 0]);
    const [first, second] = redis.copies.map((copy) => copy.redis) as [TestRedis, TestRedis];
    const options = { redisReplicas: 1, redisTimeoutMs: 1_000 };
    {
      await using one = await openReadyReplica(redis.primary.url, options);
      const order = await eventually(() => reserved(one.records, '1', 'k'));
      await one.records.settle(order, accepted);
      await isMarked(first, 2);
    }
    await redis.primary.kill();
    await promote(first);
    await using one = await openReplica(first.url, options);
    await expect(one.records.reserve(request('1', 'new'))).rejects.toThrow('was promoted');
    await expect(one.records.find(accountNamed('1'), 'new')).rejects.toThrow('was promoted');
    expect(one.records.status.degradedReason).toContain('was promoted');
    expect(await one.records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
    // The order's record is missing. If the promotion counts as a loss, its outcome is written back later.
    const missing = { ...request('1', 'missing'), id: '.missing' };
    await expect(one.records.settle(missing, accepted)).rejects.toThrow('was promoted');
    await second.command('REPLICAOF', '127.0.0.1', new URL(first.url).port);
    await eventually(() => reserved(one.records, '1', 'new'));
    expect(one.records.status.gapReason).toBe(null);
  });

  test('that stops orders counts as a loss once an operator declares it', async () => {
    await using redis = await startCopiedRedis(serverPath, [0, 0]);
    const [first, second] = redis.copies.map((copy) => copy.redis) as [TestRedis, TestRedis];
    const options = { redisReplicas: 1, redisTimeoutMs: 1_000 };
    {
      await using one = await openReadyReplica(redis.primary.url, options);
      await eventually(() => reserved(one.records, '1', 'k'));
      await isMarked(first, 2);
    }
    await redis.primary.kill();
    await promote(first);
    await using one = await openReplica(first.url, options);
    await expect(one.records.reserve(request('1', 'new'))).rejects.toThrow('was promoted');
    const operator = await openOperator(first.url);
    // The declaration is written, although no replica has it.
    await expect(operator.declareIncomplete()).rejects.toThrow('replicas of Redis have it in time');
    operator.close();
    await expectGap(one.records, request('1', 'new'));
    await second.command('REPLICAOF', '127.0.0.1', new URL(first.url).port);
    await eventually(() => one.records.reserve(madeIn('new', 90_000)));
  });

  test('is needed before a demoted primary is used again, because it may lack later writes', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReadyReplica(redis.url);
    await reserved(one.records, '1', 'k');
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    const account = accountNamed('1');
    const unavailable = { name: 'RecordsUnavailableError', earlierUnknown: true };
    for (const key of ['k', 'of the new primary']) {
      await expect(one.records.find(account, key)).rejects.toMatchObject(unavailable);
    }
    const versions = new RedisAccountVersions(one.records, { clock: systemClock });
    await expect(versions.read(account)).rejects.toMatchObject(unavailable);
    await eventually(() => expect(one.records.status.degradedReason).not.toBe(null));
    await promote(redis);
    await eventually(() => one.records.status.degradedReason === null);
    expect(await one.records.find(account, 'k')).not.toBe(null);
  });

  test('of a former primary that became a replica is a loss', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    const { primary, copies } = redis;
    await using one = await openReadyReplica(primary.url, { redisReplicas: 0 });
    await reserved(one.records, '1', 'k');
    const [copy] = copies;
    const other = copy?.redis as TestRedis;
    await eventually(async () => {
      expect(await other.command('EXISTS', `${PREFIX}:record:1:k`)).toBe(1);
    });
    await primary.command('CONFIG', 'SET', 'masterauth', new URL(other.url).password);
    await promote(other);
    await primary.command('REPLICAOF', '127.0.0.1', new URL(other.url).port);
    await eventually(async () =>
      expect(await primary.command('INFO', 'replication')).toContain('master_link_status:up'),
    );
    await promote(primary);
    await eventually(() => one.records.status.gapReason !== null);
    expect(await primary.command('EXISTS', `${PREFIX}:record:1:k`)).toBe(1);
    await expect(one.records.reserve(request('1', 'new'))).rejects.toMatchObject(GAP);
  });
});
