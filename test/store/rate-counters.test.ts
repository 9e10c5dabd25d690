import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { createMemoryRateCounters } from '../../src/store/memory/rate-counters.ts';
import { movePoint, type RateCounters } from '../../src/store/rate-counters.ts';
import { openRedisRateCounters } from '../../src/store/redis/rate-counters.ts';
import { describeWithRedis } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { startTestRedis } from '../support/redis.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

const RULE = { limit: 2, windowSeconds: 60 };

function itCounts(open: () => Promise<{ counters: RateCounters } & AsyncDisposable>): void {
  test('counts each key down to its limit, and no further', async () => {
    await using world = await open();
    const counter = world.counters.counter('requests', RULE);
    expect(await counter.take('a')).toMatchObject({ isOver: false, remaining: 1 });
    expect(await counter.take('a')).toMatchObject({ isOver: false, remaining: 0 });
    const over = await counter.take('a');
    expect(over).toMatchObject({ isOver: true, remaining: 0 });
    expect(over.resetMs).toBeGreaterThan(0);
    expect(over.resetMs).toBeLessThanOrEqual(60_000);
    expect(await counter.take('a')).toMatchObject({ isOver: true });
    expect(await counter.take('b')).toMatchObject({ isOver: false, remaining: 1 });
  });

  test('keeps the keys of two counters apart', async () => {
    await using world = await open();
    const [one, other] = ['one', 'other'].map((name) => world.counters.counter(name, RULE));
    await one?.take('a');
    expect(await other?.take('a')).toMatchObject({ remaining: 1 });
  });

  test('moves a point to the key that it belongs to, unless that is at its limit', async () => {
    await using world = await open();
    const counter = world.counters.counter('requests', RULE);
    for (const key of ['address', 'address', 'account']) await counter.take(key);
    movePoint(counter, 'address', 'account');
    await eventually(async () => (await counter.take('account', 0)).remaining === 0);
    await eventually(async () => (await counter.take('address', 0)).remaining === 1);
    movePoint(counter, 'address', 'account');
    await eventually(async () => (await counter.take('account', 0)).isOver);
    expect(await counter.take('address', 0)).toMatchObject({ remaining: 1 });
  });

  test('counts from nothing when a window is over', async () => {
    await using world = await open();
    const counter = world.counters.counter('short', { limit: 1, windowSeconds: 1 });
    await counter.take('a');
    expect((await counter.take('a')).isOver).toBe(true);
    await eventually(async () => !(await counter.take('a')).isOver);
  });
}

describe('counters in memory', () => {
  itCounts(async () => ({
    counters: createMemoryRateCounters(),
    async [Symbol.asyncDispose]() {},
  }));

  test('forget the key used least lately where a flood of keys comes', async () => {
    const counter = createMemoryRateCounters({ maxKeys: 2 }).counter('requests', RULE);
    await counter.take('victim');
    await counter.take('attacker');
    await counter.take('attacker');
    await counter.take('flood');
    expect(await counter.take('attacker')).toMatchObject({ isOver: true });
    expect(await counter.take('victim')).toMatchObject({ isOver: false });
  });
});

test('a window that has just begun ends after its length, whatever the fractions of the clock', () => {
  const uptimeMs = 478472.6088549385;
  expect(uptimeMs + 60_000 - uptimeMs).toBeGreaterThan(60_000);
  const counter = createMemoryRateCounters({ uptimeMs: () => uptimeMs }).counter('a', RULE);
  expect(counter.take('a')).toMatchObject({ resetMs: 60_000 });
});

test("a point that is given back after its window is over is nobody's", () => {
  let uptimeMs = 0;
  const counter = createMemoryRateCounters({ uptimeMs: () => uptimeMs }).counter('a', RULE);
  counter.take('a');
  uptimeMs = 60_000;
  counter.take('a', -1);
  expect(counter.take('a')).toMatchObject({ remaining: 1 });
});

describeWithRedis('counters in Redis', (serverPath) => {
  const FAR_MS = 30_000;

  /** By default none is counted elsewhere because the machine is busy. */
  async function openOn(url: string, redisTimeoutMs = FAR_MS) {
    const clock = createScriptedClock(Date.now());
    const warnings: string[] = [];
    const onWarn = (message: string) => void warnings.push(message);
    const onCounted = () => void calls.made++;
    const calls = { made: 0 };
    const counters = await openRedisRateCounters({
      ...{ url, clock, onWarn, redisTimeoutMs, onCounted },
    });
    return { counters, clock, warnings, calls };
  }

  itCounts(async () => {
    const redis = await startTestRedis(serverPath);
    const counters = await openRedisRateCounters({
      url: redis.url,
      clock: systemClock,
      onWarn() {},
      redisTimeoutMs: FAR_MS,
    });
    return {
      counters,
      async [Symbol.asyncDispose]() {
        counters.close();
        await redis[Symbol.asyncDispose]();
      },
    };
  });

  test('are shared by replicas', async () => {
    await using redis = await startTestRedis(serverPath);
    const [a, b] = [await openOn(redis.url), await openOn(redis.url)];
    await a.counters.counter('requests', RULE).take('x');
    const second = b.counters.counter('requests', RULE);
    expect(await second.take('x')).toMatchObject({ isOver: false, remaining: 0 });
    expect(await second.take('x')).toMatchObject({ isOver: true });
    a.counters.close();
    b.counters.close();
  });

  test('a window ends for all when it ends in Redis, and a key that lost its end gets one', async () => {
    await using redis = await startTestRedis(serverPath);
    const { counters, clock } = await openOn(redis.url);
    const counter = counters.counter('requests', { limit: 10, windowSeconds: 3_600 });
    await counter.take('a');
    await clock.advance(1_800_000);
    expect((await counter.take('a')).resetMs).toBeGreaterThan(3_000_000);
    const key = 'trading-graph:rate:requests:a';
    await redis.command('PERSIST', key);
    expect(await counter.take('a', 2)).toMatchObject({ isOver: false, remaining: 6 });
    expect(await redis.command('PTTL', key)).toBeGreaterThan(0);
    counters.close();
  });

  test('of a client over the limit ask Redis once, until its window is over', async () => {
    await using redis = await startTestRedis(serverPath);
    const { counters, clock, calls } = await openOn(redis.url);
    const counter = counters.counter('requests', RULE);
    for (let at = 0; at < 10; at += 1) await counter.take('a');
    expect(calls.made).toBe(3);
    const over = await counter.take('a');
    expect(over).toMatchObject({ isOver: true, remaining: 0 });
    await clock.advance(over.resetMs - 1);
    expect(await counter.take('a')).toEqual({ isOver: true, remaining: 0, resetMs: 1 });
    await clock.advance(1);
    await counter.take('a');
    expect(calls.made).toBe(4);
    counters.close();
  });

  describe('in batches', () => {
    const BATCHED = { limit: 100, windowSeconds: 60, batch: 10 };

    async function openTwo(url: string, rule = BATCHED) {
      const replicas = [await openOn(url), await openOn(url)] as const;
      const [a, b] = replicas.map(({ counters }) => counters.counter('requests', rule));
      if (a === undefined || b === undefined) throw new Error('There are two replicas.');
      return {
        a,
        b,
        clocks: replicas.map(({ clock }) => clock),
        [Symbol.dispose]() {
          for (const { counters } of replicas) counters.close();
        },
      };
    }

    test('a replica answers at once and shares what it counted with each tenth', async () => {
      await using redis = await startTestRedis(serverPath);
      using replicas = await openTwo(redis.url);
      const { a, b } = replicas;
      for (let at = 1; at < 10; at += 1) {
        expect(a.take('x')).toEqual({ isOver: false, remaining: 100 - at, resetMs: 60_000 });
      }
      expect(await b.take('x', 10)).toMatchObject({ remaining: 90 });
      expect(await a.take('x')).toMatchObject({ remaining: 80 });
      expect(a.take('y')).toMatchObject({ remaining: 99 });
    });

    test('of a client on two replicas at least the limit is let through, and at most a batch more for each', async () => {
      await using redis = await startTestRedis(serverPath);
      using replicas = await openTwo(redis.url);
      const states = [];
      for (let at = 0; at < 150; at += 1) {
        states.push(await (at % 2 === 0 ? replicas.a : replicas.b).take('x'));
      }
      const passed = states.filter(({ isOver }) => !isOver).length;
      expect(passed).toBeGreaterThanOrEqual(100);
      expect(passed).toBeLessThanOrEqual(120);
      expect(states.slice(120).every(({ isOver }) => isOver)).toBe(true);
    });

    test('the last points of a limit are shared one by one', async () => {
      await using redis = await startTestRedis(serverPath);
      using replicas = await openTwo(redis.url);
      const { a, b } = replicas;
      await a.take('x', 91);
      expect(await b.take('x', 10)).toMatchObject({ isOver: true });
      expect(await a.take('x')).toMatchObject({ isOver: true });
    });

    test('what was not shared is forgotten with its window', async () => {
      await using redis = await startTestRedis(serverPath);
      using replicas = await openTwo(redis.url);
      const { a, clocks } = replicas;
      a.take('x', 9);
      await clocks[0]?.advance(60_000);
      expect(a.take('x')).toEqual({ isOver: false, remaining: 99, resetMs: 60_000 });
    });
  });

  test.each(['down', 'frozen'])('go on in memory while Redis is %s, and come back', async (how) => {
    await using redis = await startTestRedis(serverPath);
    const { counters, clock, warnings, calls } = await openOn(redis.url, 1_000);
    const counter = counters.counter('requests', { limit: 1_000, windowSeconds: 60 });
    await counter.take('a');
    if (how === 'down') await redis.kill();
    else redis.signal('SIGSTOP');
    expect(await counter.take('a')).toMatchObject({ isOver: false, remaining: 999 });
    // Later calls do not wait for it again.
    const { made } = calls;
    for (let at = 0; at < 10; at += 1) await counter.take('a');
    expect(calls.made).toBe(made);
    expect(counters.degradedReason()).toContain('Redis');
    expect(warnings).toHaveLength(1);
    if (how === 'down') await redis.start();
    else redis.signal('SIGCONT');
    await eventually(async () => {
      await clock.advance(5_000);
      await counter.take('a');
      return counters.degradedReason() === null;
    });
    counters.close();
  });
});
