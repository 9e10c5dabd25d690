import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import type { RedisTiming } from '../../../src/store/redis/epoch.ts';
import { openRedisOrderRecords } from '../../../src/store/redis/order-records.ts';
import { JOIN, MERGE, RESTORED } from '../../../src/store/redis/scripts.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { accepted, request, reserved, unknown } from '../order-records-contract.ts';

// No replica's lease ends within a test: these are about which replicas are waited for.
const timing: RedisTiming = { beatMs: 50, graceMs: 300, leaseMs: 60_000, patienceMs: 20_000 };
const redisTimeoutMs = 30_000;
const PREFIX = 'trading-graph:{orders}';
const MARKER = `${PREFIX}:epoch`;
const MEMBERS = `${PREFIX}:members`;
const EXPECTED = `${PREFIX}:expected`;

async function openReplica(
  url: string,
  change: Partial<RedisTiming> = {},
  clock: Clock = systemClock,
) {
  const warnings: string[] = [];
  const records = await openRedisOrderRecords({
    ...{ url, max: 1_000, clock, uptimeMs: () => performance.now(), redisTimeoutMs },
    onWarn: (message) => warnings.push(message),
    timing: { ...timing, ...change },
  });
  // A new epoch is not open immediately, and replicas learn of each other only in one that is.
  await eventually(() => records.degradedReason() === null);
  return { records, warnings, [Symbol.asyncDispose]: () => records.close() };
}

async function membersOf(redis: TestRedis): Promise<string[]> {
  return (await redis.command('ZRANGE', MEMBERS, 0, -1)) as string[];
}

/** Waits until every replica has seen a heartbeat of all others since now. */
async function twoBeats(redis: TestRedis): Promise<void> {
  const scores = async () =>
    Promise.all(
      (await membersOf(redis)).map(async (member) =>
        Number(await redis.command('ZSCORE', MEMBERS, member)),
      ),
    );
  for (let beat = 0; beat < 2; beat += 1) {
    const before = Math.max(...(await scores()));
    await eventually(async () => (await scores()).every((score) => score > before));
  }
}

describeWithRedis('an epoch of the order records in Redis', (serverPath) => {
  test('ends with the run of Redis, though its marker outlives that', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    await using b = await openReplica(redis.url);
    await a.records.settle(await reserved(a.records, '1', 'k'), accepted);
    await twoBeats(redis);
    // As after a failover behind one address: the marker was copied, the last record was not.
    await redis.command(
      'EVAL',
      `redis.call('HSET', KEYS[1], 'run', 'another'); redis.call('DEL', KEYS[2], KEYS[3])`,
      ...[3, MARKER, `${PREFIX}:record:1:k`, `${PREFIX}:index`],
    );
    expect(await b.records.reserve(request('1', 'k'))).toMatchObject({
      reserved: false,
      record: { outcome: accepted },
    });
  });

  test.each([
    [
      'the list of replicas survived',
      // Redis was away for an hour, without heartbeats.
      `redis.call('ZADD', KEYS[2], redis.call('TIME')[1] * 1000, 'dead')
       for _, one in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
         redis.call('ZINCRBY', KEYS[2], -3600000, one)
       end
       redis.call('HSET', KEYS[1], 'run', 'another')`,
      false,
    ],
    ['only the others remember it', `redis.call('FLUSHALL')`, true],
  ])('waits for a replica that was alive lately, where %s', async (_, loss, isKnown) => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url, { leaseMs: 3_000, patienceMs: 8_000 });
    if (isKnown) {
      await redis.command(
        'EVAL',
        `redis.call('ZADD', KEYS[1], redis.call('TIME')[1] * 1000 + 999, 'dead')`,
        1,
        MEMBERS,
      );
      const own = (await membersOf(redis)).find((member) => member !== 'dead') ?? '';
      const before = await redis.command('ZSCORE', MEMBERS, own);
      await eventually(async () => (await redis.command('ZSCORE', MEMBERS, own)) !== before);
      const after = await redis.command('ZSCORE', MEMBERS, own);
      await eventually(async () => (await redis.command('ZSCORE', MEMBERS, own)) !== after);
    }
    const startedAtMs = performance.now();
    await redis.command('EVAL', loss, 2, MARKER, MEMBERS);
    // A heartbeat notices it, and must not forget the dead one for having been away.
    await eventually(async () => {
      const run = await redis.command('HGET', MARKER, 'run');
      return run !== null && run !== 'another';
    });
    await reserved(a.records, '1', 'new');
    expect(performance.now() - startedAtMs).toBeGreaterThan(1_500);
  });

  test('waits for one that still writes back, though nobody else knew of it', async () => {
    await using redis = await startTestRedis(serverPath);
    await using line = await startSwitchboard(redis.url);
    const open = (url: string, beatMs: number) =>
      openRedisOrderRecords({
        ...{ url, max: 2_000, clock: systemClock, uptimeMs: () => performance.now() },
        ...{ redisTimeoutMs, onWarn() {} },
        // Shorter than the writing back takes, which prolongs the wait with each batch.
        timing: { ...timing, beatMs, leaseMs: 1_500 },
      });
    // One that has not seen an open epoch at a heartbeat yet has no peers, itself included.
    const a = await open(`redis://:${REDIS_PASSWORD}@${line.address}`, 60_000);
    await Promise.all(Array.from({ length: 1_050 }, (_, n) => reserved(a, '1', `k${n}`)));
    await reserved(a, '1', 'last');
    line.delayMs = 200;
    await redis.command('FLUSHALL');
    const noticed = a.find('1', 'none');
    await eventually(async () => (await redis.command('EXISTS', MARKER)) === 1);
    expect(await membersOf(redis)).toHaveLength(1);
    const b = await open(redis.url, timing.beatMs);
    // In batches, between which other scripts have their turn.
    await eventually(async () => {
      const written = Number(await redis.command('ZCARD', `${PREFIX}:index`));
      return written > 0 && written < 1_000;
    });
    expect(await b.reserve(request('1', 'last'))).toMatchObject({ reserved: false });
    expect(await noticed).toBe(null);
    await Promise.all([a.close(), b.close()]);
  });

  test('stays open while a replica comes late and writes back', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    const keys = [MARKER, MEMBERS, EXPECTED, `${PREFIX}:index`];
    // One that it may know of from before, and that is dead.
    await redis.command(
      'EVAL',
      JOIN,
      4,
      ...keys,
      'late',
      'another epoch',
      0,
      60_000,
      0,
      0,
      'none',
      0,
      'dead',
    );
    await reserved(a.records, '1', 'joined');
    const now = Date.now();
    await redis.command('ZADD', EXPECTED, 1, 'dead');
    await redis.command('HSET', MARKER, 'opensAt', now, 'latestAt', now);
    const epoch = String(await redis.command('HGET', MARKER, 'epoch'));
    await redis.command('EVAL', MERGE, 4, ...keys, epoch, 60_000, 'late');
    await reserved(a.records, '1', 'written back');
  });

  test('does not take what was written back to an earlier one for its own', async () => {
    await using redis = await startTestRedis(serverPath);
    await using _a = await openReplica(redis.url);
    const keys = [MARKER, MEMBERS, EXPECTED, `${PREFIX}:index`];
    const answer = await redis.command('EVAL', RESTORED, 4, ...keys, 'late', 'an earlier epoch');
    expect(answer).toEqual(['foreign']);
  });

  test('forgets a replica whose lease is over, and a record whose day is', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    await redis.command('ZADD', MEMBERS, 1, 'dead');
    await redis.command('ZADD', `${PREFIX}:index`, 1, '1:old');
    await eventually(async () => (await membersOf(redis)).length === 1);
    await eventually(async () => (await redis.command('EXISTS', `${PREFIX}:index`)) === 0);
    await reserved(a.records, '1', 'old');
    expect(await redis.command('ZCARD', `${PREFIX}:index`)).toBe(1);
  });

  test('does not wait for one that an earlier epoch waited for', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    await redis.command(
      'EVAL',
      `redis.call('ZADD', KEYS[2], 1, 'gone') redis.call('HSET', KEYS[1], 'run', 'another')`,
      ...[2, MARKER, EXPECTED],
    );
    // Were it waited for, for its lease, this would be refused.
    await reserved(a.records, '1', 'new');
  });

  test('keeps what is pending of a replica that it did not wait for any longer', async () => {
    await using redis = await startTestRedis(serverPath);
    await using line = await startSwitchboard(redis.url);
    await using a = await openReplica(redis.url, { leaseMs: 1_000, patienceMs: 8_000 });
    await using b = await openReplica(`redis://:${REDIS_PASSWORD}@${line.address}`);
    const { id } = await reserved(b.records, '1', 'k');
    await twoBeats(redis);
    line.delayMs = 60_000;
    await redis.command('HSET', MARKER, 'run', 'another');
    expect(await a.records.reserve(request('1', 'k'))).toMatchObject({ record: { id } });
    line.cut();
    line.delayMs = 0;
  });

  test('does not wait for one that leaves before it has written back', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    const [first] = await membersOf(redis);
    const b = await openReplica(redis.url, { patienceMs: 100 });
    await twoBeats(redis);
    const other = (await membersOf(redis)).find((member) => member !== first) ?? '';
    const now = Date.now();
    await redis.command('ZADD', EXPECTED, 1, other);
    await redis.command('HSET', MARKER, 'opensAt', now, 'latestAt', now + 60_000);
    await expect(b.records.reserve(request('1', 'early'))).rejects.toThrow('written back');
    // An order that waits meanwhile must not name it again.
    await redis.command('HSET', MARKER, 'opensAt', Date.now() + 1_000);
    const waiting = a.records.reserve(request('1', 'new'));
    await b.records.close();
    expect(await waiting).toMatchObject({ reserved: true });
  });

  test('keeps the known outcome of a record, though an earlier write comes later', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    await using b = await openReplica(redis.url);
    const reservation = await reserved(a.records, '1', 'k');
    await a.records.settle(reservation, accepted);
    // From a connection that was given up while Redis stood still.
    const { id, canonical, reservedAtMs } = reservation;
    await redis.command(
      ...['EVAL', MERGE, 5, MARKER, MEMBERS, EXPECTED, `${PREFIX}:index`, `${PREFIX}:record:1:k`],
      ...['none', 0, 'a', '1:k', id, canonical, reservedAtMs, 0, 60_000, 1],
      JSON.stringify(unknown),
    );
    expect(await b.records.find('1', 'k')).toMatchObject({ outcome: accepted });
  });

  test('keeps an outcome whose replica is gone, and what an earlier version wrote, whatever another one writes back', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    const b = await openReplica(redis.url);
    const keys = ['k', 'earlier'].map((key) => `${PREFIX}:record:1:${key}`);
    await reserved(a.records, '1', 'k');
    await reserved(a.records, '1', 'earlier');
    await redis.command('DEL', ...keys, `${PREFIX}:index`);
    const { id } = await reserved(b.records, '1', 'k');
    await b.records.settle({ ...request('1', 'k'), id }, accepted);
    const earlier = await reserved(b.records, '1', 'earlier');
    await redis.command('HDEL', keys[1] ?? '', 'epoch', 'member');
    await b.records.close();
    // Until then the other one names it as a replica to wait for.
    await twoBeats(redis);
    await redis.command('HSET', MARKER, 'run', 'another');
    await eventually(() =>
      a.warnings.some((line) => line.startsWith('2 order keys were reserved')),
    );
    await eventually(() => a.records.degradedReason() === null);
    // It is ready without waiting for its first heartbeat.
    await using c = await openReplica(redis.url, { beatMs: 60_000 });
    expect(await c.records.find('1', 'k')).toMatchObject({ id, outcome: accepted });
    expect(await c.records.find('1', 'earlier')).toMatchObject({ id: earlier.id });
    // Nor is it taken for given back, though its replica lives and has not written it back.
    const [replica = ''] = await membersOf(redis);
    await redis.command('HSET', keys[0] ?? '', 'epoch', 'earlier', 'member', replica);
    expect(await c.records.find('1', 'k')).toMatchObject({ id, outcome: accepted });
  });

  test('that is not open refuses to look up a key, rather than to report it free', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url, { patienceMs: 100 });
    const now = Date.now();
    await redis.command('HSET', MARKER, 'opensAt', now + 60_000, 'latestAt', now + 60_000);
    await expect(a.records.find('1', 'k')).rejects.toThrow('being written back');
    await expect(a.records.reserve(request('1', 'k'))).rejects.toThrow('being written back');
    expect(a.records.degradedReason()).toContain('recovering');
    // Or the first that finds it open would take the others for dead.
    await twoBeats(redis);
  });
});
