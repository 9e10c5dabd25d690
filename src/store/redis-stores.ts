import { openRedisCatalogVersions } from './redis-catalog-versions.ts';
import { openRedisOrderRecords, type RedisOrderRecordsOptions } from './redis-order-records.ts';
import { openRedisRateCounters, type RedisRateCountersOptions } from './redis-rate-counters.ts';

/** The state that replicas share, while its parts open. */
export function openRedisStores(options: RedisOrderRecordsOptions & RedisRateCountersOptions) {
  return {
    records: openRedisOrderRecords(options),
    counters: openRedisRateCounters(options),
    versions: openRedisCatalogVersions(options),
  };
}
