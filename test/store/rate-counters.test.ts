import { describe, expect, test } from 'vitest';
import { createMemoryRateCounters } from '../../src/store/memory-rate-counters.ts';
import type { RateCounters } from '../../src/store/rate-counters.ts';
import { openRedisRateCounters } from '../../src/store/redis-rate-counters.ts';
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

describeWithRedis('counters in Redis', (serverPath) => {
  async function openOn(url: string) {
    const clock = createScriptedClock(Date.now());
    const warnings: string[] = [];
    const onWarn = (message: string) => void warnings.push(message);
    const counters = await openRedisRateCounters({ url, clock, onWarn });
    return { counters, clock, warnings };
  }

  itCounts(async () => {
    const redis = await startTestRedis(serverPath);
    const { counters } = await openOn(redis.url);
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

  test.each(['down', 'frozen'])('go on in memory while Redis is %s, and come back', async (how) => {
    await using redis = await startTestRedis(serverPath);
    const { counters, clock, warnings } = await openOn(redis.url);
    const counter = counters.counter('requests', { limit: 1_000, windowSeconds: 60 });
    await counter.take('a');
    if (how === 'down') await redis.kill();
    else redis.signal('SIGSTOP');
    expect(await counter.take('a')).toMatchObject({ isOver: false, remaining: 999 });
    // Later calls do not wait for it again, which would take 20 s.
    const startedAtMs = performance.now();
    for (let at = 0; at < 100; at += 1) await counter.take('a');
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
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
