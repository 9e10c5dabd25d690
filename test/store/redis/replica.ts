import { systemClock } from '../../../src/lib/clock.ts';
import { openOperatorRecords } from '../../../src/store/open-stores.ts';
import { openRedisOrderRecords } from '../../../src/store/redis/order-records.ts';
import type { RedisOrderRecordsOptions } from '../../../src/store/redis/order-store.ts';
import { eventually } from '../../support/eventually.ts';

export const PREFIX = 'trading-graph:{orders}:v2';
export const MARKER = `${PREFIX}:marker`;
export const DURABLE = { args: ['--appendonly', 'yes', '--appendfsync', 'always'] };
/** A timeout that no test reaches. */
export const FAR_MS = 30_000;

/** The order records of one replica of the service, not of Redis. By default a new store accepts orders at once. */
export async function openReplica(
  redisUrl: string,
  change: Partial<Omit<RedisOrderRecordsOptions, 'onWarn'>> = {},
) {
  const warnings: string[] = [];
  const records = await openRedisOrderRecords({
    redisUrl,
    redisReplicas: null,
    requiresAppendonly: false,
    max: 1_000,
    clock: systemClock,
    redisTimeoutMs: FAR_MS,
    prefix: 'trading-graph:',
    gatewaySkewMs: () => 0,
    onWarn: (message) => void warnings.push(message),
    graceMs: 0,
    ...change,
  });
  return { records, warnings, [Symbol.asyncDispose]: () => records.close() };
}

/** Opens the order records of a replica of the service, and waits until they can be used. */
export async function openReadyReplica(
  url: string,
  change: Parameters<typeof openReplica>[1] = {},
) {
  const replica = await openReplica(url, change);
  await eventually(() => replica.records.status.degradedReason === null);
  return replica;
}

/** The order records for operators. */
export function openOperator(redisUrl: string) {
  return openOperatorRecords({
    redisUrl,
    // With a Redis this setting is not used.
    orderStore: 'memory',
    prefix: 'trading-graph:',
    redisReplicas: null,
    requiresAppendonly: false,
    max: 2_000,
    onWarn() {},
  });
}
