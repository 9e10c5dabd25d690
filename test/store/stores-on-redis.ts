import { systemClock } from '../../lib/clock.ts';
import { openStores } from '../../src/store/open-stores.ts';

/** All stores on one Redis, with the warnings that they gave. */
export async function openOnRedis(
  redisUrl: string,
  prefix = 'trading-graph:',
  warnings: string[] = [],
  // A machine may be busy with something else.
  redisTimeoutMs = 30_000,
) {
  const stores = await openStores({
    redisUrl,
    prefix,
    redisTimeoutMs,
    durability: 'wished',
    orderStore: 'memory',
    max: 100,
    maxPerAccount: 100,
    clock: systemClock,
    onWarn: (message) => void warnings.push(message),
  });
  return { ...stores, warnings, [Symbol.asyncDispose]: stores.close };
}
