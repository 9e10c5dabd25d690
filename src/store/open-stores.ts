import type { Clock } from '../lib/clock.ts';
import type { Eventually } from '../lib/eventually.ts';
import type { AccountVersions } from './account-versions.ts';
import { createMemoryOrderRecords } from './memory/order-records.ts';
import type { RecordTableOptions } from './memory/record-table.ts';
import type { OrderRecords } from './order-records.ts';
import type { CatalogVersions } from './redis/catalog-versions.ts';
import type { Durability } from './redis/durability.ts';
import type { SharedLimits } from './redis/shared-limits.ts';
import type { RedisError, Warn } from './redis/trouble.ts';
import { checkFilePath } from './sqlite/check-file-path.ts';
import { openSqliteOrderRecords } from './sqlite/order-records.ts';
import { toStoreError } from './store-error.ts';

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
  /** Called with the duration of each count in Redis. */
  readonly onCounted?: (ms: number) => void;
  /** Called with each failure of Redis. */
  readonly onRedisFailed?: (kind: RedisError) => void;
}

/** The state that outlives a request. */
export interface Stores {
  readonly records: OrderRecords;
  /** What limits share with other replicas; null without Redis. */
  readonly limits: SharedLimits | null;
  /** Versions from other replicas' catalogs; null where there are none. */
  readonly versions: CatalogVersions | null;
  /** Of the accounts, by the orders of all replicas; null without Redis. */
  readonly accountVersions: AccountVersions | null;
  /** Whether Redis takes commands; null without Redis. */
  readonly redisIsUp: (() => boolean) | null;
  close(): Promise<void>;
}

/** The stores while they open. */
export interface StoreOpening {
  readonly records: Promise<
    OrderRecords & { readonly redisIsUp?: () => boolean; readonly versions?: AccountVersions }
  >;
  readonly limits: Promise<SharedLimits | null>;
  readonly versions: Promise<CatalogVersions | null>;
}

/**
 * In Redis where replicas share; else this process's own, of which the order records may be a file.
 * Throws a StoreError where a named store cannot be used.
 */
export async function openStores(options: StoreOptions): Promise<Stores> {
  await using opened = new AsyncDisposableStack();
  const kept = async <T extends { close(): Eventually<void> } | null>(opening: Promise<T>) => {
    const store = await opening;
    opened.defer(() => store?.close());
    return store;
  };
  try {
    // In parallel: a Redis that hangs costs the start one time-out, not one for each connection.
    const opening = await begin(options);
    const [records, limits, versions] = await settleAll([
      kept(opening.records),
      kept(opening.limits),
      kept(opening.versions),
    ]);
    const resources = opened.move();
    const { redisIsUp = null, versions: accountVersions = null } = records;
    const close = () => resources.disposeAsync();
    return { records, limits, versions, accountVersions, redisIsUp, close };
  } catch (error) {
    throw toStoreError(error);
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

async function begin(options: StoreOptions): Promise<StoreOpening> {
  const { redisUrl: url, redisPrefix: prefix, onRedisFailed } = options;
  const recordOptions = {
    max: options.orderRecordsMax,
    maxPerAccount: options.orderRecordsPerAccount,
    uptimeMs: () => performance.now(),
  };
  if (url === null) {
    return {
      records: openOwnRecords(options, recordOptions),
      limits: Promise.resolve(null),
      versions: Promise.resolve(null),
    };
  }
  // Loaded only where there is a Redis, with all that it needs.
  const { openRedisStores } = await import('./redis/open-stores.ts');
  return openRedisStores({
    ...options,
    ...recordOptions,
    ...{ url, prefix, onFailed: onRedisFailed, durability: options.redisDurability },
  });
}

async function openOwnRecords(
  { orderStore, clock, onWarn }: StoreOptions,
  options: RecordTableOptions,
): Promise<OrderRecords> {
  if (orderStore === 'memory') return createMemoryOrderRecords(options);
  await checkFilePath(orderStore);
  return openSqliteOrderRecords({ ...options, clock, onWarn, path: orderStore });
}
