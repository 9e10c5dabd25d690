import type { Clock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { SharedKeys } from '../../lib/limits/known-keys.ts';
import type { Share } from '../../lib/limits/limiter.ts';
import type { RedisConnection } from './connection.ts';
import type { RedisHealth } from './redis-health.ts';
import { answersIn, figureIn } from './replies.ts';

export interface SharedLimitsOptions {
  readonly prefix: string;
  readonly clock: Clock;
  /** Called with the duration of each count in Redis. */
  readonly onCounted?: (ms: number) => void;
}

const PAUSE_MS = 5_000;
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

const FORGET = "redis.call('ZREM', KEYS[1], ARGV[1])";
const END_OF = "return redis.call('ZSCORE', KEYS[1], ARGV[1])";

/** The counts and known tokens that all replicas share. While Redis does not answer it is not asked: each replica has its own. */
export function createSharedLimits(
  redis: RedisConnection,
  health: RedisHealth,
  { clock, prefix, onCounted = () => {} }: SharedLimitsOptions,
) {
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const isPaused = () => clock.now() < pausedUntilMs;

  /** Null where Redis has not answered. */
  async function ask<T>(command: () => Promise<T>): Promise<T | null> {
    if (isPaused()) return null;
    const startedAtMs = performance.now();
    try {
      return await command();
    } catch {
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
      const args = figures.slice(3 * at, 3 * (at + MAX_AT_ONCE));
      const answer = await ask(async () =>
        answersIn(await redis.run(SPEND, keys, args), keys.length).map(figureIn),
      );
      if (answer === null) return null;
      levels.push(...answer);
    }
    return levels;
  };

  const set = `${prefix}known:token`;
  const knownTokens: SharedKeys = {
    add(key, untilMs) {
      const args = [key, untilMs, clock.date(), MAX_KEYS];
      fireAndForget(
        'known keys',
        ask(() => redis.run(REMEMBER, [set], args)),
      );
    },
    delete(key) {
      fireAndForget(
        'known keys',
        ask(() => redis.run(FORGET, [set], [key])),
      );
    },
    async has(key) {
      const untilMs = await ask(async () => {
        const end = await redis.run(END_OF, [set], [key]);
        return end === null ? null : figureIn(end);
      });
      return untilMs !== null && untilMs > clock.date();
    },
  };

  return {
    share,
    knownTokens,
    degradedReason(): string | null {
      const { reason } = health;
      if (reason !== null) return `Redis fails (${reason}): limits are counted here alone`;
      return isPaused() ? 'Redis does not count: limits are counted here alone' : null;
    },
  };
}
