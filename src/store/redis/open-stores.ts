import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { SharedStore } from '../shared-store.ts';
import { connectRedis } from './connection.ts';
import { openRedisOrderRecords, type RedisOrderRecordsOptions } from './order-records.ts';
import { RedisHealth } from './redis-health.ts';
import { SharedLimits } from './shared-limits.ts';

/** Opens the state that replicas share. */
export async function openRedisStores(given: RedisOrderRecordsOptions): Promise<SharedStore> {
  const health = new RedisHealth(given.onWarn);
  const options = { ...given, health };
  await using opened = new AsyncDisposableStack();
  const kept = async <T extends { close(): MaybePromise<void> }>(opening: Promise<T>) => {
    const store = await opening;
    opened.defer(() => store.close());
    return store;
  };
  // In parallel: a Redis that hangs costs the start one time-out, not one for each connection.
  const opening = [kept(openRedisOrderRecords(options)), kept(connectRedis(options))] as const;
  // Where one fails the other is closed as well, once it is open.
  await Promise.allSettled(opening);
  const [records, redis] = await Promise.all(opening);
  const resources = opened.move();
  const limits = new SharedLimits(redis, health, given);
  return {
    records,
    replicas: {
      share: limits.share,
      knownTokens: limits,
      accountVersions: records.versions,
      isUp: () => records.isUp(),
      degradedReason: () => limits.degradedReason() ?? records.copiesReason(),
    },
    close: () => resources.disposeAsync(),
  };
}
