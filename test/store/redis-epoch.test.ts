import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import type { RecordedOutcome } from '../../src/store/order-records.ts';
import type { RedisTiming } from '../../src/store/redis-epoch.ts';
import { openRedisOrderRecords } from '../../src/store/redis-order-records.ts';
import { RESTORED } from '../../src/store/redis-scripts.ts';
import { describeWithRedis } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../support/redis.ts';
import { startSwitchboard } from '../support/switchboard.ts';
import { accepted, rejected, request, reserved, unknown } from './order-records-contract.ts';

// No replica's lease ends within a test: these are about which replicas are waited for.
const timing: RedisTiming = { beatMs: 50, graceMs: 300, leaseMs: 60_000, patienceMs: 2_000 };
const PREFIX = 'trading-graph:{orders}';
const MARKER = `${PREFIX}:epoch`;
const MEMBERS = `${PREFIX}:members`;
const EXPECTED = `${PREFIX}:expected`;

async function openReplica(url: string, change: Partial<RedisTiming> = {}) {
  const warnings: string[] = [];
  const records = await openRedisOrderRecords({
    ...{ url, max: 1_000, clock: systemClock, uptimeMs: () => performance.now() },
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
        ...{ url, max: 1_000, clock: systemClock, uptimeMs: () => performance.now() },
        onWarn() {},
        timing: { ...timing, beatMs, patienceMs: 20_000 },
      });
    // One that has not seen an open epoch at a heartbeat yet has no peers, itself included.
    const a = await open(`redis://:${REDIS_PASSWORD}@${line.address}`, 60_000);
    for (let n = 0; n < 450; n += 1) await reserved(a, '1', `k${n}`);
    line.delayMs = 150;
    await redis.command('FLUSHALL');
    const noticed = a.find('1', 'none');
    await eventually(async () => (await redis.command('EXISTS', MARKER)) === 1);
    expect(await membersOf(redis)).toHaveLength(1);
    const b = await open(redis.url, timing.beatMs);
    expect(await b.reserve(request('1', 'k449'))).toMatchObject({ reserved: false });
    expect(await noticed).toBe(null);
    await Promise.all([a.close(), b.close()]);
  });

  test('does not take what was written back to an earlier one for its own', async () => {
    await using redis = await startTestRedis(serverPath);
    await using _a = await openReplica(redis.url);
    const keys = [MARKER, MEMBERS, EXPECTED, `${PREFIX}:index`];
    const answer = await redis.command('EVAL', RESTORED, 4, ...keys, 'late', 'an earlier epoch');
    expect(answer).toEqual(['foreign']);
  });

  test('forgets a replica whose lease is over', async () => {
    await using redis = await startTestRedis(serverPath);
    await using _a = await openReplica(redis.url);
    await redis.command('ZADD', MEMBERS, 1, 'dead');
    await eventually(async () => (await membersOf(redis)).length === 1);
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

  test('does not wait for a replica that has left', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    const b = await openReplica(redis.url);
    await twoBeats(redis);
    expect(await membersOf(redis)).toHaveLength(2);
    await b.records.close();
    expect(await membersOf(redis)).toHaveLength(1);
    await twoBeats(redis);
    await redis.command('FLUSHALL');
    // Were the other waited for, for its lease, this would be refused.
    await reserved(a.records, '1', 'new');
  });

  test('does not wait for one that leaves before it has written back', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    const [first] = await membersOf(redis);
    const b = await openReplica(redis.url);
    await twoBeats(redis);
    const other = (await membersOf(redis)).find((member) => member !== first) ?? '';
    const now = Date.now();
    await redis.command('ZADD', EXPECTED, 1, other);
    await redis.command('HSET', MARKER, 'opensAt', now, 'latestAt', now + 60_000);
    await expect(a.records.reserve(request('1', 'early'))).rejects.toThrow('written back');
    const waiting = a.records.reserve(request('1', 'new'));
    await b.records.close();
    expect(await waiting).toMatchObject({ reserved: true });
  });

  test('keeps the known outcome of a record, whichever replica asks and whatever comes later', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    await using b = await openReplica(redis.url);
    const reservation = await reserved(a.records, '1', 'k');
    const steps: [RecordedOutcome, RecordedOutcome][] = [
      [unknown, unknown],
      [accepted, accepted],
      [rejected, accepted],
      [unknown, accepted],
    ];
    for (const [outcome, known] of steps) {
      await a.records.settle(reservation, outcome);
      expect(await b.records.find('1', 'k')).toMatchObject({ outcome: known });
    }
  });

  test('reports a key that two replicas have reserved while Redis had lost it', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    await using b = await openReplica(redis.url);
    await reserved(a.records, '1', 'k');
    await redis.command('DEL', `${PREFIX}:record:1:k`, `${PREFIX}:index`);
    await reserved(b.records, '1', 'k');
    await redis.command('FLUSHALL');
    await eventually(() =>
      [...a.warnings, ...b.warnings].some((line) => line.startsWith('1 order keys were reserved')),
    );
  });

  test('keeps an outcome whose replica is gone, whatever another one writes back', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    const b = await openReplica(redis.url);
    await reserved(a.records, '1', 'k');
    await redis.command('DEL', `${PREFIX}:record:1:k`, `${PREFIX}:index`);
    const { id } = await reserved(b.records, '1', 'k');
    await b.records.settle({ ...request('1', 'k'), id }, accepted);
    await b.records.close();
    await redis.command('HSET', MARKER, 'run', 'another');
    await eventually(() =>
      a.warnings.some((line) => line.startsWith('1 order keys were reserved')),
    );
    await using c = await openReplica(redis.url);
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
  });
});
