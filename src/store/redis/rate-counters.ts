import type { Clock } from '../../lib/clock.ts';
import { createMemoryRateCounters } from '../memory/rate-counters.ts';
import type { RateCounter, RateCounters } from '../rate-counters.ts';
import { createBatchedRateCounter } from './batched-rate-counter.ts';
import { openRedisClient } from './client.ts';
import { REDIS_TIMEOUT_MS, type RedisConnectionOptions } from './connection.ts';
import { RedisTrouble } from './trouble.ts';

export interface RedisRateCountersOptions extends RedisConnectionOptions {
  readonly clock: Clock;
  /** The prefix of all keys; replicas of one gateway share it. */
  readonly prefix?: string;
  /** Called with the duration of each count in Redis. */
  readonly onCounted?: (ms: number) => void;
}

// A request in each batch waits for its count: a Redis that is slow must not make the facade slow.
const COUNT_TIMEOUT_MS = 200;
const PAUSE_MS = 5_000;
const RECONNECT_MAX_MS = 1_000;

/** One step, so that a key never stays without its end. ARGV: points, seconds of a window. Returns the count and the rest of the window. */
const COUNT = `
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local rest = redis.call('PTTL', KEYS[1])
if rest < 0 then
  rest = ARGV[2] * 1000
  redis.call('EXPIRE', KEYS[1], ARGV[2])
end
return {count, rest}
`;

/**
 * Counters that replicas share. While Redis does not answer each replica counts for itself: a limit
 * that is too lenient for a while is better than a service that is down.
 */
export async function openRedisRateCounters({
  url,
  clock,
  onWarn,
  prefix = 'trading-graph:',
  redisTimeoutMs,
  onCounted = () => {},
  onFailed,
  trouble = new RedisTrouble({ onWarn, onFailed }),
}: RedisRateCountersOptions): Promise<RateCounters> {
  const redis = await openRedisClient({
    url,
    connectTimeoutMs: redisTimeoutMs ?? REDIS_TIMEOUT_MS,
    commandTimeoutMs: redisTimeoutMs ?? COUNT_TIMEOUT_MS,
    reconnectMaxMs: RECONNECT_MAX_MS,
    onError: (error, refusal) => trouble.failed(error, refusal),
  });

  const own = createMemoryRateCounters();
  const counters: { readonly byteSize: number }[] = [];
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const isPaused = () => clock.now() < pausedUntilMs;

  function failed(error: unknown): void {
    trouble.failed(error);
    pausedUntilMs = clock.now() + PAUSE_MS;
  }

  return {
    counter(name, rule): RateCounter {
      const fallback = own.counter(name, rule);
      const shared: RateCounter = {
        ...rule,
        async take(key, points = 1) {
          if (isPaused()) return fallback.take(key, points);
          const startedAtMs = performance.now();
          try {
            const redisKey = `${prefix}rate:${name}:${key}`;
            const answer = await redis.eval(COUNT, 1, redisKey, points, rule.windowSeconds);
            const [count, resetMs] = answer as [number, number];
            const remaining = Math.max(0, rule.limit - count);
            return { isOver: count > rule.limit, remaining, resetMs };
          } catch (error) {
            failed(error);
            return fallback.take(key, points);
          } finally {
            onCounted(performance.now() - startedAtMs);
          }
        },
      };
      const batched = createBatchedRateCounter({ shared, rule, clock });
      counters.push(batched);
      return batched;
    },
    get byteSize() {
      return counters.reduce((sum, { byteSize }) => sum + byteSize, own.byteSize);
    },
    degradedReason() {
      const { reason } = trouble;
      if (reason !== null) return `Redis fails (${reason}): limits are counted here alone`;
      return isPaused() ? 'Redis does not count: limits are counted here alone' : null;
    },
    close: () => redis.disconnect(),
  };
}
