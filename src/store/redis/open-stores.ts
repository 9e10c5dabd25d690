import type { SharedStore } from '../shared-store.ts';
import { RedisAccountVersions } from './account-versions.ts';
import { openRedisOrderRecords, type RedisOrderRecordsOptions } from './order-records.ts';
import { SharedLimits } from './shared-limits.ts';

/** Opens the state that replicas share. */
export async function openRedisStores(options: RedisOrderRecordsOptions): Promise<SharedStore> {
  const records = await openRedisOrderRecords(options);
  const limits = new SharedLimits(records.redis, options);
  return {
    records,
    replicas: {
      share: limits.share,
      knownTokens: limits,
      accountVersions: new RedisAccountVersions(records, options),
      degradedReason: () => limits.degradedReason() ?? records.copiesReason(),
    },
    close: () => records.close(),
  };
}
