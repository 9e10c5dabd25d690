import type { Environment } from '../../src/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openStores } from '../../src/store/open-stores.ts';
import { datesBy } from './dates.ts';

/** Makes the store of these settings, so that a process takes orders at once: in a new one, keys from before are refused. */
export async function withEarlierStore<Given extends Environment>(given: Given): Promise<Given> {
  const { REDIS_URL: redisUrl = null, ORDER_STORE: orderStore = 'memory' } = given;
  const { records } = await openStores({
    redisUrl,
    orderStore,
    prefix: 'trading-graph:',
    redisReplicas: null,
    requiresAppendonly: false,
    max: 100,
    clock: systemClock,
    dates: datesBy(),
    takesOldKeys: true,
    onWarn() {},
  });
  await records.close();
  return given;
}
