import { connectRedis, REDIS_PREFIX, type RedisConnectionOptions } from './connection.ts';

/** Former versions of the catalogs, which replicas share. */
export interface CatalogVersions {
  put(key: string, text: string): Promise<void>;
  get(key: string): Promise<string | null>;
  close(): void;
}

// A phone that was offline for longer loads the catalog anew, which takes a few seconds.
const LIFE_SECONDS = 24 * 3_600;

const PUT = `return redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])`;
const GET = `return redis.call('GET', KEYS[1])`;

/** Losing it costs a client the whole catalog instead of its changes, nothing else. */
export async function openRedisCatalogVersions(
  options: RedisConnectionOptions,
): Promise<CatalogVersions> {
  const { prefix = REDIS_PREFIX } = options;
  const redis = await connectRedis(options);
  const keyOf = (key: string) => `${prefix}catalog:${key}`;
  return {
    async put(key, text) {
      await redis.run(PUT, [keyOf(key)], [text, LIFE_SECONDS]);
    },
    async get(key) {
      const text = await redis.run(GET, [keyOf(key)], []);
      return typeof text === 'string' ? text : null;
    },
    close: () => redis.close(),
  };
}
