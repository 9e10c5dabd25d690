import type { Clock } from '../../lib/clock.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { createMemoryOrderRecords } from './memory/order-records.ts';
import type { RecordTableOptions } from './memory/record-table.ts';
import type { OrderRecords } from './order-records.ts';
import type { Durability } from './redis/durability.ts';
import type { RedisError, Warn } from './redis/trouble.ts';
import { checkFilePath } from './sqlite/check-file-path.ts';
import { openSqliteOrderRecords } from './sqlite/order-records.ts';
import { StoreError } from './store-error.ts';

export interface StoreOptions {
  readonly redisUrl: string | null;
  /** The prefix of every key in Redis. */
  readonly redisPrefix: string;
  /** The deadline of connecting to Redis, and of each command; each part's own where left out. */
  readonly redisTimeoutMs?: number;
  readonly redisDurability: Durability;
  /** Without Redis: a file, or the word `memory`. */
  readonly orderStore: string;
  readonly orderRecordsMax: number;
  readonly orderRecordsPerAccount: number;
  readonly clock: Clock;
  readonly onWarn: Warn;
  readonly onNearlyFull?: () => void;
  /** Called with the duration of each count in Redis. */
  readonly onCounted?: (ms: number) => void;
  /** Called with each failure of Redis. */
  readonly onRedisFailed?: (kind: RedisError) => void;
}

/** The state that outlives a request. */
export type Stores = Awaited<ReturnType<typeof openStores>>;

/**
 * In Redis where replicas share; else this process's own, of which the order records may be a file.
 * Throws a StoreError where a named store cannot be used.
 */
export async function openStores(options: StoreOptions) {
  const { redisUrl: url, redisPrefix: prefix, redisDurability: durability } = options;
  try {
    if (url === null) {
      const records = await openOwnRecords(options);
      const none = { limits: null, versions: null, accountVersions: null, redisIsUp: null };
      return { records, ...none, close: () => records.close() };
    }
    // Loaded only where there is a Redis, with all that it needs.
    const { openRedisStores } = await import('./redis/open-stores.ts');
    return await openRedisStores({
      ...options,
      ...recordOptions(options),
      ...{ url, prefix, durability, onFailed: options.onRedisFailed },
    });
  } catch (error) {
    throw new StoreError(reasonOf(error), { cause: error });
  }
}

async function openOwnRecords(options: StoreOptions): Promise<OrderRecords> {
  const { orderStore: path, clock, onWarn } = options;
  if (path === 'memory') return createMemoryOrderRecords(recordOptions(options));
  await checkFilePath(path);
  return openSqliteOrderRecords({ ...recordOptions(options), clock, onWarn, path });
}

function recordOptions(options: StoreOptions): RecordTableOptions {
  const { orderRecordsMax: max, orderRecordsPerAccount: maxPerAccount, onNearlyFull } = options;
  return { max, maxPerAccount, onNearlyFull, uptimeMs: () => performance.now() };
}
