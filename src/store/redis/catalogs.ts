import { MAX_ALL_COPIES_BYTES, MAX_COPIES, MAX_COPY_BYTES } from '../catalog-files.ts';
import type { SharedStore } from '../shared-store.ts';
import type { RedisConnection } from './connection.ts';

// A phone that was offline for longer loads the catalog anew, which takes a few seconds.
const LIFE_MS = 24 * 3_600_000;

// Anybody may have catalogs of their own where a forwarded header names a tenant; each version may take 200 kB.
const MAX_VERSIONS = 1_000;
const MAX_VERSIONS_BYTES = 256 * 1024 ** 2;

/**
 * KEYS 2: the keys by their time, 3: by their bytes; the oldest make room, though the clock was set back. What would live
 * longer is newer, and stays.
 */
const PUT = `
local life, count, bytes, size = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if redis.call('PTTL', KEYS[1]) > life then return end
local latest = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] or 0
redis.call('SET', KEYS[1], ARGV[1], 'PX', life)
redis.call('ZADD', KEYS[2], math.max(redis.call('TIME')[1], latest), KEYS[1])
redis.call('ZADD', KEYS[3], size, KEYS[1])
local keys = redis.call('ZRANGE', KEYS[2], 0, -1)
for at = #keys, 1, -1 do
  count = count - 1
  bytes = bytes - (redis.call('ZSCORE', KEYS[3], keys[at]) or 0)
  if count < 0 or bytes < 0 then
    redis.call('DEL', keys[at])
    redis.call('ZREM', KEYS[2], keys[at])
    redis.call('ZREM', KEYS[3], keys[at])
  end
end
`;
const GET = `return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}`;
const HAS = `return redis.call('PTTL', KEYS[1])`;
const CLAIM = `
if redis.call('GET', KEYS[1]) == ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return 1
`;
/** How long a writer may take, and nobody writes the same again. */
const CLAIM_MS = 60_000;

/** The catalogs that replicas share, over a connection of their own: an answer has megabytes, and nothing else may wait for it. */
export function createRedisCatalogs(
  redis: RedisConnection,
  prefix: string,
): SharedStore['catalogs'] {
  /** Entries of one kind, of which the newest stay. */
  function entries(name: string, maxCount: number, maxBytes: number) {
    const keyOf = (key: string) => `${prefix}${name}:${key}`;
    return {
      keyOf,
      async get(key: string): Promise<{ bytes: Buffer; leftMs: number } | null> {
        const answer = await redis.runForBytes(GET, [keyOf(key)], []);
        const [bytes, leftMs] = answer as [unknown, unknown];
        return bytes instanceof Buffer ? { bytes, leftMs: Number(leftMs) } : null;
      },
      async put(key: string, bytes: Buffer, leftMs: number): Promise<void> {
        const keys = [keyOf(key), `${prefix}${name}s`, `${prefix}${name}-bytes`];
        const args = [bytes, Math.ceil(leftMs), maxCount, maxBytes, bytes.length];
        await redis.runForBytes(PUT, keys, args);
      },
    };
  }
  const versions = entries('catalog', MAX_VERSIONS, MAX_VERSIONS_BYTES);
  const copies = entries('packed-catalog', MAX_COPIES, MAX_ALL_COPIES_BYTES);
  return {
    /** Former versions. Losing one costs a client the whole catalog instead of its changes, nothing else. */
    versions: {
      put: (key: string, text: string) => versions.put(key, Buffer.from(text), LIFE_MS),
      get: async (key: string) => (await versions.get(key))?.bytes.toString() ?? null,
    },
    copies: {
      ...copies,
      maxBytes: MAX_COPY_BYTES,
      has: async (key: string) => Number(await redis.run(HAS, [copies.keyOf(key)], [])) > 0,
      async mayPut(key: string, content: string): Promise<boolean> {
        const writer = copies.keyOf(`${key}:writer`);
        return (await redis.run(CLAIM, [writer], [CLAIM_MS, content])) === 1;
      },
    },
  };
}
