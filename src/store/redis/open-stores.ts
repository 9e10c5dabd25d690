import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import type { OrderRecords } from '../order-records.ts';
import { openRedisCatalogVersions } from './catalog-versions.ts';
import { openRedisOrderRecords, type RedisOrderRecordsOptions } from './order-records.ts';
import { createRedisHealth } from './redis-health.ts';
import { openSharedLimits, type SharedLimitsOptions } from './shared-limits.ts';

/** Opens the state that replicas share. */
export async function openRedisStores(given: RedisOrderRecordsOptions & SharedLimitsOptions) {
  const { onWarn, onFailed } = given;
  const options = { ...given, health: createRedisHealth({ onWarn, onFailed }) };
  await using opened = new AsyncDisposableStack();
  const kept = async <T extends { close(): MaybePromise<void> }>(opening: Promise<T>) => {
    const store = await opening;
    opened.defer(() => store.close());
    return store;
  };
  // In parallel: a Redis that hangs costs the start one time-out, not one for each connection.
  const opening = [
    kept(openRedisOrderRecords(options)),
    kept(openSharedLimits(options)),
    kept(openRedisCatalogVersions(options)),
  ] as const;
  // Where one fails the others are closed as well, once they are open.
  await Promise.allSettled(opening);
  const [records, limits, versions] = await Promise.all(opening);
  const resources = opened.move();
  return {
    records: records as OrderRecords,
    /** The counts and known keys of limits, shared by all replicas. */
    limits,
    /** Versions from other replicas' catalogs. */
    versions,
    /** The versions of accounts, which the orders of all replicas advance. */
    accountVersions: records.versions,
    /** Whether Redis takes commands. */
    redisIsUp: records.redisIsUp,
    close: () => resources.disposeAsync(),
  };
}
