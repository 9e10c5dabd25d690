import { systemClock } from '../../lib/clock.ts';
import { openStores } from '../../src/store/open-stores.ts';

/** All stores on one Redis, with the warnings that they gave. */
export async function openOnRedis(
  redisUrl: string,
  redisPrefix = 'trading-graph:',
  warnings: string[] = [],
  // A machine may be busy with something else.
  redisTimeoutMs = 30_000,
) {
  const stores = await openStores({
    redisUrl,
    redisPrefix,
    redisTimeoutMs,
    redisDurability: 'wished',
    orderStore: 'memory',
    orderRecordsMax: 100,
    orderRecordsPerAccount: 100,
    clock: systemClock,
    onWarn: (message) => void warnings.push(message),
  });
  return { ...stores, warnings, [Symbol.asyncDispose]: stores.close };
}
