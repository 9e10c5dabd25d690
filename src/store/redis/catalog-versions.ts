import type { RedisConnection } from './connection.ts';

// A phone that was offline for longer loads the catalog anew, which takes a few seconds.
const LIFE_SECONDS = 24 * 3_600;

// Anybody may have catalogs of their own where a forwarded header names a tenant; each version may take 200 kB.
const MAX_VERSIONS = 1_000;

/** KEYS 2: the keys by their time; the oldest make room, though the clock was set back. */
const PUT = `
local latest = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] or 0
local now = math.max(redis.call('TIME')[1], latest)
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
redis.call('ZADD', KEYS[2], now, KEYS[1])
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[2])
for _, key in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1 - ARGV[3])) do
  redis.call('DEL', key)
  redis.call('ZREM', KEYS[2], key)
end
`;
const GET = `return redis.call('GET', KEYS[1])`;

/** Former versions of the catalogs, which replicas share. Losing one costs a client the whole catalog instead of its changes, nothing else. */
export function createRedisCatalogVersions(redis: RedisConnection, prefix: string) {
  const keyOf = (key: string) => `${prefix}catalog:${key}`;
  return {
    async put(key: string, text: string): Promise<void> {
      const keys = [keyOf(key), `${prefix}catalogs`];
      await redis.run(PUT, keys, [text, LIFE_SECONDS, MAX_VERSIONS]);
    },
    async get(key: string): Promise<string | null> {
      const text = await redis.run(GET, [keyOf(key)], []);
      return typeof text === 'string' ? text : null;
    },
  };
}
