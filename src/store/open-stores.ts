import { existsSync, statSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { assertPlainFile } from '../lib/read-plain-file.ts';
import { reasonOf } from '../lib/reason-of.ts';
import type { OperatorRecords } from './operator-records.ts';
import type { RedisOrderRecordsOptions } from './redis/order-store.ts';
import type { SharedStore } from './shared-store.ts';
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

/** Refuses paths that cannot hold a store. An inspection creates no folder. */
async function checkFilePath(
  path: string,
  { makesFolder = false, isInspection = false },
): Promise<void> {
  const folder = dirname(resolve(path));
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) {
    // The volume with the earlier orders may not be mounted, or the path may be mistyped.
    if (!makesFolder) {
      throw new StoreError(`there is no folder ${folder}: mount its volume, or create it`);
    }
    if (isInspection) return;
    await mkdir(folder, { mode: 0o700, recursive: true });
  } else if (!found.isDirectory()) throw new StoreError(`${folder} is not a folder`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) assertPlainFile(stats);
  // SQLite and the mark create files in the same folder.
  await access(folder, constants.W_OK | constants.X_OK);
}
