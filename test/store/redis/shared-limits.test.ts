import { expect, test } from 'vitest';
import { KnownKeys } from '../../../src/lib/limits/known-keys.ts';
import { connectRedis } from '../../../src/store/redis/connection.ts';
import { RedisHealth } from '../../../src/store/redis/redis-health.ts';
import { SharedLimits } from '../../../src/store/redis/shared-limits.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { REDIS_PASSWORD, startTestRedis } from '../../support/redis.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { startSwitchboard } from '../../support/switchboard.ts';

/** The figures of a bucket: its size of ten, its refill in ten minutes, and this usage. */
const taken = (points: number) => [10, 10 / 600_000, points];

describeWithRedis('limits and known keys in Redis', (serverPath) => {
  async function openOn(redisUrl: string, redisTimeoutMs = 30_000) {
    const clock = createScriptedClock(Date.now());
    const warnings: string[] = [];
    const onWarn = (message: string) => void warnings.push(message);
    const prefix = 'trading-graph:';
    const health = new RedisHealth(onWarn, clock);
    const redis = await connectRedis({ redisUrl, prefix, onWarn, redisTimeoutMs }, health);
    // A failure within five seconds of the start is not logged.
    await clock.advance(5_000);
    const limits = new SharedLimits(redis, { prefix, clock });
    return { limits, clock, warnings, [Symbol.dispose]: () => redis.close() };
  }

  test('handle more buckets than fit into one command', async () => {
    await using redis = await startTestRedis(serverPath);
    using one = await openOn(redis.url);
    const names = Array.from({ length: 1_201 }, (_, index) => String(index));
    const figures = names.flatMap(() => taken(1));
    expect(await one.limits.share(names, figures)).toEqual(Array(1_201).fill(9));
  });

  test('are shared by all replicas', async () => {
    await using redis = await startTestRedis(serverPath);
    using one = await openOn(redis.url);
    using other = await openOn(redis.url);
    expect(await one.limits.share(['a'], taken(3))).toEqual([7]);
    const levels = await other.limits.share(['a', 'b'], [...taken(2), ...taken(1)]);
    expect(levels?.map(Math.round)).toEqual([5, 9]);
  });

  test('refill by the clock of Redis, bound the debt, and store no full bucket', async () => {
    await using redis = await startTestRedis(serverPath);
    using one = await openOn(redis.url);
    // A bucket of ten that refills in half a second. Its debt is at most its size.
    const takeQuick = (points: number) => one.limits.share(['q'], [10, 10 / 500, points]);
    expect(await takeQuick(1_000)).toEqual([-10]);
    await eventually(async () => expect((await takeQuick(0))?.[0] ?? 0).toBeGreaterThan(9));
    await one.limits.share(['a'], taken(1));
    expect(await redis.command('PTTL', 'trading-graph:limit:a')).toBeGreaterThan(50_000);
    await one.limits.share(['a'], taken(-5));
    expect(await redis.command('EXISTS', 'trading-graph:limit:a')).toBe(0);
  });

  test('lose nothing when the clock of Redis is set back', async () => {
    await using redis = await startTestRedis(serverPath);
    using one = await openOn(redis.url);
    await one.limits.share(['a'], taken(3));
    // Simulates that the clock was set back by an hour.
    await redis.command('HINCRBY', 'trading-graph:limit:a', 'at', 3_600_000);
    expect(await one.limits.share(['a'], taken(1))).toEqual([6]);
    expect((await one.limits.share(['a'], taken(1)))?.[0]).toBeCloseTo(5, 1);
  });

  test('forget a key that another replica has deleted, or that has expired', async () => {
    await using redis = await startTestRedis(serverPath);
    using one = await openOn(redis.url);
    using other = await openOn(redis.url);
    const [ours, theirs] = [one, other].map(({ limits, clock }) => {
      return new KnownKeys(clock, 60_000, limits);
    }) as [KnownKeys, KnownKeys];
    ours.add('a');
    await eventually(() => theirs.has('a'));
    theirs.delete('a');
    await eventually(async () => !(await theirs.has('a')));
    ours.add('b');
    await eventually(() => theirs.has('b'));
    await other.clock.advance(60_000);
    expect(await theirs.has('b')).toBe(false);
  });

  test('are bounded to 200,000 known keys, of which the first to expire are dropped', async () => {
    await using redis = await startTestRedis(serverPath);
    using one = await openOn(redis.url);
    const key = 'trading-graph:known:token';
    const expiryMs = one.clock.date() + 60_000;
    // The key `1` expires first.
    const fill = `for i = 1, 200000 do redis.call('ZADD', KEYS[1], ARGV[1] + i, i) end`;
    await redis.command('EVAL', fill, 1, key, expiryMs);
    await redis.command('ZADD', key, one.clock.date() - 1, 'expired');
    const keys = one.limits;
    keys.add('late', expiryMs + 1_000_000);
    await eventually(() => keys.has('late'));
    expect(await redis.command('ZCARD', key)).toBe(200_000);
    expect(await keys.has('1')).toBe(false);
    expect(await keys.has('2')).toBe(true);
    expect(await keys.has('expired')).toBe(false);
  });

  test.each(['down', 'frozen'])(
    'are not requested while Redis is %s, and are used again afterwards',
    async (how) => {
      await using redis = await startTestRedis(serverPath);
      using one = await openOn(redis.url, 200);
      const { limits, clock, warnings } = one;
      await limits.share(['a'], taken(1));
      if (how === 'down') await redis.kill();
      else redis.signal('SIGSTOP');
      expect(await limits.share(['a'], taken(1))).toBeNull();
      // Later calls do not wait for the timeout again, which would take 20 s.
      for (let n = 0; n < 100; n += 1) expect(await limits.share(['a'], taken(1))).toBeNull();
      expect(await limits.has('a')).toBe(false);
      await eventually(() => expect(limits.degradedReason()).toContain('Redis'));
      await eventually(() => expect(warnings).toHaveLength(1));
      if (how === 'down') await redis.start();
      else redis.signal('SIGCONT');
      await eventually(async () => {
        await clock.advance(5_000);
        await limits.share(['a'], taken(1));
        return limits.degradedReason() === null;
      });
    },
  );

  test('replace a half-open connection', async () => {
    await using redis = await startTestRedis(serverPath);
    await using line = await startSwitchboard(redis.url);
    using one = await openOn(`redis://:${REDIS_PASSWORD}@${line.address}`, 500);
    await one.limits.share(['a'], taken(1));
    // Simulates that the machine of Redis is gone, and that its address leads to another machine.
    line.delayMs = 600_000;
    expect(await one.limits.share(['a'], taken(1))).toBeNull();
    line.delayMs = 0;
    await eventually(async () => {
      await one.clock.advance(5_000);
      expect(await one.limits.share(['a'], taken(1))).not.toBeNull();
    });
  });
});
