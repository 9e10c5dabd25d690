import type { Clock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { SharedKeys } from '../../lib/limits/known-keys.ts';
import type { Share } from '../../lib/limits/limiter.ts';
import type { RedisConnection } from './connection.ts';

const MAX_KEYS = 200_000;
const MAX_AT_ONCE = 500;

/**
 * Token buckets by Redis's clock; a full bucket has no key. ARGV of each: its size, its refill per millisecond, and the
 * usage.
 */
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

/** ARGV: a key, its end, the date, and the maximum of keys. The keys that end first are removed to make room. */
const REMEMBER = `
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
for _, key in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1 - ARGV[4])) do
  redis.call('ZREM', KEYS[1], key)
end
`;

const FORGET = "redis.call('ZREM', KEYS[1], ARGV[1])";
const END_OF = "return redis.call('ZSCORE', KEYS[1], ARGV[1])";

/**
 * The counts and known tokens that all replicas share. While Redis does not answer it is not called, and each replica uses
 * its own.
 */
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

  readonly share: Share = async (buckets, figures) => {
    const levels: number[] = [];
    for (let at = 0; at < buckets.length; at += MAX_AT_ONCE) {
      const keys = buckets.slice(at, at + MAX_AT_ONCE).map((key) => `${this.#prefix}limit:${key}`);
      const args = figures.slice(3 * at, 3 * (at + MAX_AT_ONCE));
      const answer = await this.#run(SPEND, keys, args);
      if (!Array.isArray(answer) || answer.length !== keys.length) return null;
      levels.push(...answer.map(String).map(Number));
    }
    return levels;
  };

  add(token: string, untilMs: number): void {
    const args = [token, untilMs, this.#clock.date(), MAX_KEYS];
    fireAndForget('known keys', this.#run(REMEMBER, this.#tokens, args));
  }

  delete(token: string): void {
    fireAndForget('known keys', this.#run(FORGET, this.#tokens, [token]));
  }

  async has(token: string): Promise<boolean> {
    const untilMs = await this.#run(END_OF, this.#tokens, [token]);
    return Number(untilMs) > this.#clock.date();
  }

  degradedReason(): string | null {
    const { reason } = this.#redis.health;
    return reason && `Redis fails (${reason}): limits are counted here alone`;
  }

  /** Null if Redis fails. It is called again a while after its latest failure. */
  async #run(...call: Parameters<RedisConnection['run']>): Promise<unknown> {
    if (this.#redis.health.reason !== null) return null;
    return this.#redis.run(...call).catch(() => null);
  }
}
