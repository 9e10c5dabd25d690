import type { Clock } from '../../lib/clock.ts';
import type { Eventually } from '../../lib/eventually.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import type { AccountVersions } from './account-versions.ts';
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

type OpenedRecords = OrderRecords & {
  readonly redisIsUp?: () => boolean;
  readonly versions?: AccountVersions;
};

/**
 * In Redis where replicas share; else this process's own, of which the order records may be a file.
 * Throws a StoreError where a named store cannot be used.
 */
export async function openStores(options: StoreOptions) {
  await using opened = new AsyncDisposableStack();
  const kept = async <T extends { close(): Eventually<void> }>(opening: Promise<T> | null) => {
    const store = await opening;
    if (store !== null) opened.defer(() => store.close());
    return store;
  };
  try {
    // In parallel: a Redis that hangs costs the start one time-out, not one for each connection.
    const redis = await openRedis(options);
    const [records, limits, versions] = await settleAll([
      kept<OpenedRecords>(redis?.records ?? openOwnRecords(options)),
      kept(redis?.limits ?? null),
      kept(redis?.versions ?? null),
    ]);
    const resources = opened.move();
    const { redisIsUp = null, versions: accountVersions = null } = records as OpenedRecords;
    return {
      records: records as OrderRecords,
      /** The counts and known keys of limits, shared by all replicas; null without Redis. */
      limits,
      /** Versions from other replicas' catalogs; null where there are none. */
      versions,
      /** The versions of accounts, which the orders of all replicas advance; null without Redis. */
      accountVersions,
      /** Whether Redis takes commands; null without Redis. */
      redisIsUp,
      close: () => resources.disposeAsync(),
    };
  } catch (error) {
    throw new StoreError(reasonOf(error), { cause: error });
  }
}

/**
 * Like Promise.all, but rejects only after all have settled, so that the caller can close what they
 * opened.
 */
async function settleAll<const T extends readonly Promise<unknown>[]>(promises: T) {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** The stores in Redis while they open. */
async function openRedis(options: StoreOptions) {
  const { redisUrl: url, redisPrefix: prefix, redisDurability: durability } = options;
  if (url === null) return null;
  // Loaded only where there is a Redis, with all that it needs.
  const { openRedisStores } = await import('./redis/open-stores.ts');
  return openRedisStores({
    ...options,
    ...recordOptions(options),
    ...{ url, prefix, durability, onFailed: options.onRedisFailed },
  });
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
