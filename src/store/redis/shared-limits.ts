import type { Clock } from '../../../lib/clock.ts';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import type { SharedKeys } from '../../../lib/limits/known-keys.ts';
import type { Share } from '../../../lib/limits/limiter.ts';
import { openRedisClient } from './client.ts';
import { REDIS_PREFIX, REDIS_TIMEOUT_MS, type RedisConnectionOptions } from './connection.ts';
import { createRedisHealth } from './redis-health.ts';
import { figureIn, unreadable } from './replies.ts';

export interface SharedLimitsOptions extends RedisConnectionOptions {
  readonly clock: Clock;
  /** Called with the duration of each count in Redis. */
  readonly onCounted?: (ms: number) => void;
}

const PAUSE_MS = 5_000;
const RECONNECT_MAX_MS = 1_000;
const MAX_KEYS = 200_000;
const MAX_AT_ONCE = 500;

/** Token buckets by Redis's clock; a full one has no key. ARGV of each: its size, what it earns in a ms, what was spent. */
const SPEND = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local levels = {}
for i, key in ipairs(KEYS) do
  local most, perMs, points = ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
  local held = redis.call('HMGET', key, 'level', 'at')
  local level = held[1] and math.min(most, held[1] + math.max(0, now - held[2]) * perMs) or most
  level = math.max(-most, math.min(most, level - points))
  redis.call('HSET', key, 'level', level, 'at', now)
  redis.call('EXPIRE', key, math.ceil((most - level) / perMs / 1000))
  levels[i] = tostring(level)
end
return levels
`;

/** ARGV: a key, its end, now, how many keys there may be. Those that end first make room. */
const REMEMBER = `
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
for _, key in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1 - ARGV[4])) do
  redis.call('ZREM', KEYS[1], key)
end
`;

/** Opens the counts and known keys that all replicas share. While Redis does not answer it is not asked: each replica has its own. */
export async function openSharedLimits({
  url,
  clock,
  onWarn,
  prefix = REDIS_PREFIX,
  redisTimeoutMs = REDIS_TIMEOUT_MS,
  onCounted = () => {},
  onFailed,
  health = createRedisHealth({ onWarn, onFailed }),
}: SharedLimitsOptions) {
  const redis = await openRedisClient({
    url,
    // Only an unknown token's first call waits for an answer; beyond it a replica counts for itself.
    timeoutMs: redisTimeoutMs,
    reconnectMaxMs: RECONNECT_MAX_MS,
    health,
  });
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const isPaused = () => clock.now() < pausedUntilMs;

  /** Null where Redis has not answered. */
  async function ask<T>(command: () => Promise<T>): Promise<T | null> {
    if (isPaused()) return null;
    const startedAtMs = performance.now();
    try {
      return await command();
    } catch (error) {
      health.failed(error);
      pausedUntilMs = clock.now() + PAUSE_MS;
      return null;
    } finally {
      onCounted(performance.now() - startedAtMs);
    }
  }

  const share: Share = async (buckets, figures) => {
    const levels: number[] = [];
    for (let at = 0; at < buckets.length; at += MAX_AT_ONCE) {
      const keys = buckets.slice(at, at + MAX_AT_ONCE).map((key) => `${prefix}limit:${key}`);
      const args = [...keys, ...figures.slice(3 * at, 3 * (at + MAX_AT_ONCE))];
      const answer = await ask(async () =>
        levelsIn(await redis.eval(SPEND, keys.length, ...args), keys.length),
      );
      if (answer === null) return null;
      levels.push(...answer);
    }
    return levels;
  };

  return {
    share,
    /** A set of known keys. */
    keys(name: string): SharedKeys {
      const set = `${prefix}known:${name}`;
      return {
        add(key, untilMs) {
          const remember = () => redis.eval(REMEMBER, 1, set, key, untilMs, clock.date(), MAX_KEYS);
          fireAndForget('known keys', ask(remember));
        },
        delete(key) {
          fireAndForget(
            'known keys',
            ask(() => redis.zrem(set, key)),
          );
        },
        async has(key) {
          const untilMs = await ask(async () => {
            const score: unknown = await redis.zscore(set, key);
            return score === null ? null : figureIn(score);
          });
          return untilMs !== null && untilMs > clock.date();
        },
      };
    },
    degradedReason(): string | null {
      const { reason } = health;
      if (reason !== null) return `Redis fails (${reason}): limits are counted here alone`;
      return isPaused() ? 'Redis does not count: limits are counted here alone' : null;
    },
    close: () => redis.disconnect(),
  };
}

/** The rest of each bucket; a reply of another shape is no answer. */
function levelsIn(reply: unknown, length: number): readonly number[] {
  if (!Array.isArray(reply) || reply.length !== length) throw unreadable();
  return reply.map(figureIn);
}
