import type { Clock } from '../lib/clock.ts';
import { assertNoJournal, FORMER_JOURNAL } from './former-journal.ts';
import { createMemoryOrderRecords } from './memory-order-records.ts';
import { createMemoryRateCounters } from './memory-rate-counters.ts';
import type { OrderRecords } from './order-records.ts';
import type { RateCounters } from './rate-counters.ts';
import { type CatalogVersions, openRedisCatalogVersions } from './redis-catalog-versions.ts';
import { openRedisOrderRecords } from './redis-order-records.ts';
import { openRedisRateCounters } from './redis-rate-counters.ts';
import { openSqliteOrderRecords } from './sqlite-order-records.ts';

export interface StoreOptions {
  readonly redisUrl: string | null;
  /** Without Redis: a file, or the word `memory`. */
  readonly orderStore: string;
  readonly orderRecordsMax: number;
  readonly clock: Clock;
  readonly onWarn: (message: string) => void;
}

/** What outlives a request. */
export interface Stores {
  readonly records: OrderRecords;
  readonly counters: RateCounters;
  /** What other replicas' catalogs held; null where there are none. */
  readonly versions: CatalogVersions | null;
  close(): Promise<void>;
}

/** In Redis where replicas share; else this process's own, of which the order records may be a file. */
export async function openStores(options: StoreOptions): Promise<Stores> {
  const { redisUrl, clock, onWarn } = options;
  await using opened = new AsyncDisposableStack();
  const records = opened.adopt(await openRecords(options), (each) => each.close());
  const counters =
    redisUrl === null
      ? createMemoryRateCounters()
      : await openRedisRateCounters({ url: redisUrl, clock, onWarn });
  opened.defer(() => counters.close());
  const versions =
    redisUrl === null ? null : await openRedisCatalogVersions({ url: redisUrl, onWarn });
  opened.defer(() => versions?.close());
  const resources = opened.move();
  return { records, counters, versions, close: () => resources.disposeAsync() };
}

async function openRecords({
  redisUrl,
  orderStore,
  orderRecordsMax,
  clock,
  onWarn,
}: StoreOptions): Promise<OrderRecords> {
  const options = { max: orderRecordsMax, uptimeMs: () => performance.now(), onWarn };
  if (redisUrl !== null) return openRedisOrderRecords({ ...options, url: redisUrl, clock });
  if (orderStore === 'memory') return createMemoryOrderRecords(options);
  assertNoJournal(FORMER_JOURNAL, clock.now());
  return openSqliteOrderRecords({ ...options, clock, path: orderStore });
}
