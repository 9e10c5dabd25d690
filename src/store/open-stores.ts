import { existsSync } from 'node:fs';
import { reasonOf } from '../lib/reason-of.ts';
import type { OperatorRecords } from './operator-records.ts';
import type { RedisOrderRecordsOptions } from './redis/order-store.ts';
import type { SharedStore } from './shared-store.ts';
import { checkFilePath } from './sqlite/check-file-path.ts';
import type { NewFile } from './sqlite/file-schema.ts';
import { OperatorFile } from './sqlite/sqlite-operator.ts';
import { openSqliteOrderRecords } from './sqlite/sqlite-records.ts';
import { StoreError } from './store-error.ts';

export interface StoreOptions extends Omit<RedisOrderRecordsOptions, 'redisUrl'>, NewFile {
  readonly redisUrl: string | null;
  /** A file, or the word `memory`, if there is no Redis. */
  readonly orderStore: string;
  /** When true, a missing folder of the file is created. */
  readonly makesFolder?: boolean;
}

/** Opens the shared state in Redis, or this process's own with order records in a file or in memory. Throws a StoreError. */
export async function openStores(options: StoreOptions): Promise<SharedStore> {
  const { redisUrl } = options;
  try {
    if (redisUrl === null) return await openOwnStores(options);
    // Loaded on demand, because it needs ioredis.
    const { openRedisStores } = await import('./redis/open-redis.ts');
    return await openRedisStores({ ...options, redisUrl });
  } catch (error) {
    throw new StoreError(reasonOf(error), { cause: error });
  }
}

export async function openOperatorRecords(
  options: Omit<StoreOptions, 'clock' | 'dates'>,
): Promise<OperatorRecords> {
  const { redisUrl, orderStore: path } = options;
  if (redisUrl === null) return new OperatorFile({ ...options, path });
  const { openRedisOperator } = await import('./redis/redis-operator.ts');
  return openRedisOperator({ ...options, redisUrl });
}

async function openOwnStores({ orderStore: path, ...given }: StoreOptions): Promise<SharedStore> {
  const isFile = path !== 'memory';
  if (isFile) await checkFilePath(path, given);
  // An inspection creates no file, because the file would belong to the user who ran it.
  const isInMemory = !isFile || (given.isInspection === true && !existsSync(path));
  const records = await openSqliteOrderRecords({ ...given, path: isInMemory ? ':memory:' : path });
  return { records, replicas: null };
}
