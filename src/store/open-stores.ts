import type { Clock } from '../lib/clock.ts';
import { settleAll } from '../lib/settle-all.ts';
import { checkFilePath } from './check-file-path.ts';
import { assertNoJournal, FORMER_JOURNAL } from './former-journal.ts';
import { createMemoryOrderRecords } from './memory-order-records.ts';
import { createMemoryRateCounters } from './memory-rate-counters.ts';
import type { OrderRecords } from './order-records.ts';
import type { RateCounters } from './rate-counters.ts';
import { type CatalogVersions, openRedisCatalogVersions } from './redis-catalog-versions.ts';
import { openRedisOrderRecords } from './redis-order-records.ts';
import { openRedisRateCounters } from './redis-rate-counters.ts';
import { openSqliteOrderRecords } from './sqlite-order-records.ts';
import { toStoreError } from './store-error.ts';

export interface StoreOptions {
  readonly redisUrl: string | null;
  /** The prefix of every key in Redis. */
  readonly redisPrefix: string;
  /** Without Redis: a file, or the word `memory`. */
  readonly orderStore: string;
  readonly orderRecordsMax: number;
  readonly clock: Clock;
  readonly onWarn: (message: string) => void;
}

/** The state that outlives a request. */
export interface Stores {
  readonly records: OrderRecords;
  readonly counters: RateCounters;
  /** Versions from other replicas' catalogs; null where there are none. */
  readonly versions: CatalogVersions | null;
  close(): Promise<void>;
}

/**
 * In Redis where replicas share; else this process's own, of which the order records may be a file.
 * Throws a StoreError where a named store cannot be used.
 */
export async function openStores(options: StoreOptions): Promise<Stores> {
  await using opened = new AsyncDisposableStack();
  const kept = async <T extends { close(): void | Promise<void> } | null>(opening: Promise<T>) => {
    const store = await opening;
    opened.defer(() => store?.close());
    return store;
  };
  try {
    // In parallel: a Redis that hangs costs the start one time-out, not one for each connection.
    const [records, counters, versions] = await settleAll([
      kept(openRecords(options)),
      kept(openCounters(options)),
      kept(openVersions(options)),
    ]);
    const resources = opened.move();
    return { records, counters, versions, close: () => resources.disposeAsync() };
  } catch (error) {
    throw toStoreError(error);
  }
}

async function openRecords({
  redisUrl,
  redisPrefix: prefix,
  orderStore,
  orderRecordsMax,
  clock,
  onWarn,
}: StoreOptions): Promise<OrderRecords> {
  const options = { max: orderRecordsMax, uptimeMs: () => performance.now(), onWarn };
  if (redisUrl !== null) return openRedisOrderRecords({ ...options, url: redisUrl, prefix, clock });
  if (orderStore === 'memory') return createMemoryOrderRecords(options);
  assertNoJournal(FORMER_JOURNAL, clock.now());
  await checkFilePath(orderStore);
  return openSqliteOrderRecords({ ...options, clock, path: orderStore });
}

async function openCounters({
  redisUrl: url,
  redisPrefix: prefix,
  clock,
  onWarn,
}: StoreOptions): Promise<RateCounters> {
  if (url === null) return createMemoryRateCounters();
  return openRedisRateCounters({ url, prefix, clock, onWarn });
}

async function openVersions({
  redisUrl: url,
  redisPrefix: prefix,
  onWarn,
}: StoreOptions): Promise<CatalogVersions | null> {
  return url === null ? null : openRedisCatalogVersions({ url, prefix, onWarn });
}
