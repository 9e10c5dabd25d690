import { connectRedis, REDIS_PREFIX, type RedisConnectionOptions } from './connection.ts';

// A phone that was offline for longer loads the catalog anew, which takes a few seconds.
const LIFE_SECONDS = 24 * 3_600;

const PUT = `return redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])`;
const GET = `return redis.call('GET', KEYS[1])`;

/** Former versions of the catalogs, which replicas share. Losing one costs a client the whole catalog instead of its changes, nothing else. */
export async function openRedisCatalogVersions(options: RedisConnectionOptions) {
  const { prefix = REDIS_PREFIX } = options;
  const redis = await connectRedis(options);
  const keyOf = (key: string) => `${prefix}catalog:${key}`;
  return {
    async put(key: string, text: string): Promise<void> {
      await redis.run(PUT, [keyOf(key)], [text, LIFE_SECONDS]);
    },
    async get(key: string): Promise<string | null> {
      const text = await redis.run(GET, [keyOf(key)], []);
      return typeof text === 'string' ? text : null;
    },
    close: () => redis.close(),
  };
}
