import type { Clock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { SharedKeys } from '../../lib/limits/known-keys.ts';
import type { ShareUsage } from '../../lib/limits/limiter.ts';
import type { RedisConnection } from './connection.ts';

const MAX_KNOWN_TOKENS = 200_000;
/** The maximum of buckets in one call of the script. */
const BUCKETS_AT_ONCE = 500;

/**
 * Token buckets by Redis's clock; a full bucket has no key. ARGV has three numbers for each key: its size, its refill per
 * millisecond, and the usage, which is negative if tokens are given back. The debt of a bucket is at most its size.
 */
const SPEND = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local levels = {}
for i, key in ipairs(KEYS) do
  local size, perMs, usage = ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
  local stored = redis.call('HMGET', key, 'level', 'at')
  local level = stored[1] and math.min(size, stored[1] + math.max(0, now - stored[2]) * perMs) or size
  level = math.max(-size, math.min(size, level - usage))
  redis.call('HSET', key, 'level', level, 'at', now)
  redis.call('EXPIRE', key, math.ceil((size - level) / perMs / 1000))
  levels[i] = tostring(level)
end
return levels
`;

/** ARGV: a token's hash, its end, the date, and the maximum of tokens. If there are too many, the first to end is removed. */
const REMEMBER = `
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
for _, token in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1 - ARGV[4])) do
  redis.call('ZREM', KEYS[1], token)
end
`;

const FORGET = "redis.call('ZREM', KEYS[1], ARGV[1])";
const END_OF = "return redis.call('ZSCORE', KEYS[1], ARGV[1])";

/** The limits and known tokens that all replicas share. While Redis fails, each replica uses its own. */
export class SharedLimits implements SharedKeys {
  readonly #redis: RedisConnection;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #tokens: readonly string[];

  constructor(
    redis: RedisConnection,
    { clock, prefix }: { readonly clock: Clock; readonly prefix: string },
  ) {
    this.#redis = redis;
    this.#clock = clock;
    this.#prefix = prefix;
    this.#tokens = [`${prefix}known:token`];
  }

  /** Spends from each bucket, and returns the levels; null if Redis fails. */
  readonly share: ShareUsage = async (buckets, figures) => {
    const levels: number[] = [];
    for (let from = 0; from < buckets.length; from += BUCKETS_AT_ONCE) {
      const to = from + BUCKETS_AT_ONCE;
      const keys = buckets.slice(from, to).map((key) => `${this.#prefix}limit:${key}`);
      // Each bucket has three figures.
      const args = figures.slice(3 * from, 3 * to);
      const answer = await this.#run(SPEND, keys, args);
      if (!Array.isArray(answer) || answer.length !== keys.length) return null;
      levels.push(...answer.map(String).map(Number));
    }
    return levels;
  };

  add(token: string, untilMs: number): void {
    const args = [token, untilMs, this.#clock.date(), MAX_KNOWN_TOKENS];
    fireAndForget('known tokens', this.#run(REMEMBER, this.#tokens, args));
  }

  delete(token: string): void {
    fireAndForget('known tokens', this.#run(FORGET, this.#tokens, [token]));
  }

  async has(token: string): Promise<boolean> {
    const untilMs = await this.#run(END_OF, this.#tokens, [token]);
    return Number(untilMs) > this.#clock.date();
  }

  degradedReason(): string | null {
    const { reason } = this.#redis.health;
    return reason && `Redis fails (${reason}): limits are counted here alone`;
  }

  /** Resolves to null if Redis fails. Redis is not called if it has failed within the last seconds. */
  async #run(...call: Parameters<RedisConnection['run']>): Promise<unknown> {
    if (this.#redis.health.reason !== null) return null;
    return this.#redis.run(...call).catch(() => null);
  }
}
