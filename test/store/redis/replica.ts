import { systemClock } from '../../../src/lib/clock.ts';
import { openOperatorRecords } from '../../../src/store/open-stores.ts';
import type { RedisOrderRecordsOptions } from '../../../src/store/redis/order-store.ts';
import { openRedisOrderRecords } from '../../../src/store/redis/redis-records.ts';
import { datesBy } from '../../support/dates.ts';
import { eventually } from '../../support/eventually.ts';
import { keyOf } from '../../support/order-keys.ts';

export const PREFIX = 'trading-graph:{orders}';
export const MARKER = `${PREFIX}:marker`;
export const DURABLE = { args: ['--appendonly', 'yes', '--appendfsync', 'always'] };
/** A timeout that no test reaches. */
export const FAR_MS = 30_000;

/** The order records of one replica of the service, not of Redis. By default a new store takes orders at once. */
export async function openReplica(
  redisUrl: string,
  change: Partial<Omit<RedisOrderRecordsOptions, 'onWarn'>> = {},
) {
  const warnings: string[] = [];
  const options: RedisOrderRecordsOptions = {
    redisUrl,
    redisReplicas: null,
    requiresAppendonly: false,
    max: 1_000,
    clock: systemClock,
    redisTimeoutMs: FAR_MS,
    prefix: 'trading-graph:',
    dates: datesBy(change.clock),
    onWarn: (message) => void warnings.push(message),
    takesOldKeys: true,
    ...change,
  };
  const records = await openRedisOrderRecords(options);
  return { records, options, warnings, [Symbol.asyncDispose]: () => records.close() };
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

/** The name of the record of an account's key, as Redis has it. */
export function recordName(account: string, key: string): string {
  return `${PREFIX}:record:${account}:${keyOf(key)}`;
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
