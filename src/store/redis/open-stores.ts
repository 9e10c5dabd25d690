import { openRedisCatalogVersions } from './catalog-versions.ts';
import { openRedisOrderRecords, type RedisOrderRecordsOptions } from './order-records.ts';
import { openSharedLimits, type SharedLimitsOptions } from './shared-limits.ts';
import { RedisTrouble } from './trouble.ts';

/** The state that replicas share, while its parts open. */
export function openRedisStores(given: RedisOrderRecordsOptions & SharedLimitsOptions) {
  const { onWarn, onFailed } = given;
  const options = { ...given, trouble: new RedisTrouble({ onWarn, onFailed }) };
  return {
    records: openRedisOrderRecords(options),
    limits: openSharedLimits(options),
    versions: openRedisCatalogVersions(options),
  };
}
