import type { SharedStore } from '../shared-store.ts';
import { StoreError } from '../store-error.ts';
import { RedisAccountVersions } from './account-versions.ts';
import type { RedisOrderRecordsOptions } from './order-store.ts';
import { openRedisOrderRecords } from './redis-records.ts';
import { FORGETFUL } from './script-head.ts';
import { SharedLimits } from './shared-limits.ts';

export async function openRedisStores(options: RedisOrderRecordsOptions): Promise<SharedStore> {
  const records = await openRedisOrderRecords(options);
  // If Redis does not answer yet, a later look checks this.
  if (records.isForgetful) {
    await records.close();
    throw new StoreError(`${FORGETFUL}: set appendonly yes, or REDIS_REPLICAS=none to accept that`);
  }
  const limits = new SharedLimits(records.redis, options);
  return {
    records,
    replicas: {
      share: limits.share,
      knownTokens: limits,
      accountVersions: new RedisAccountVersions(records, options),
      degradedReason: () => limits.degradedReason() ?? records.copiesReason(),
    },
  };
}
