import { openRedisCatalogVersions } from './catalog-versions.ts';
import { openRedisOrderRecords, type RedisOrderRecordsOptions } from './order-records.ts';
import { openRedisRateCounters, type RedisRateCountersOptions } from './rate-counters.ts';
import { RedisTrouble } from './trouble.ts';

/** The state that replicas share, while its parts open. */
export function openRedisStores(given: RedisOrderRecordsOptions & RedisRateCountersOptions) {
  const { onWarn, onFailed } = given;
  const options = { ...given, trouble: new RedisTrouble({ onWarn, onFailed }) };
  return {
    records: openRedisOrderRecords(options),
    counters: openRedisRateCounters(options),
    versions: openRedisCatalogVersions(options),
  };
}
