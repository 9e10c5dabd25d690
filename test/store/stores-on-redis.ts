import { systemClock } from '../../src/lib/clock.ts';
import { openStores, type StoreOptions } from '../../src/store/open-stores.ts';
import { datesBy } from '../support/dates.ts';

/** All stores on one Redis, with their warnings. */
export async function openOnRedis(redisUrl: string, change: Partial<StoreOptions> = {}) {
  const warnings: string[] = [];
  const stores = await openStores({
    redisUrl,
    prefix: 'trading-graph:',
    // The machine may be busy.
    redisTimeoutMs: 30_000,
    redisReplicas: null,
    requiresAppendonly: false,
    orderStore: 'memory',
    max: 100,
    maxPerAccount: 100,
    clock: systemClock,
    dates: datesBy(),
    takesOldKeys: true,
    onWarn: (message) => void warnings.push(message),
    ...change,
  });
  return { ...stores, warnings, [Symbol.asyncDispose]: () => stores.records.close() };
}
