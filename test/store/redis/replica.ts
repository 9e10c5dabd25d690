import { systemClock } from '../../../lib/clock.ts';
import { openOperatorRecords } from '../../../src/store/open-operator-records.ts';
import type { RedisTiming } from '../../../src/store/redis/epoch.ts';
import {
  openRedisOrderRecords,
  type RedisOrderRecordsOptions,
} from '../../../src/store/redis/order-records.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestRedis } from '../../support/redis.ts';

export const PREFIX = 'trading-graph:{orders}';
export const MARKER = `${PREFIX}:epoch`;
export const MEMBERS = `${PREFIX}:members`;
export const EXPECTED = `${PREFIX}:expected`;
export const INDEX = `${PREFIX}:index`;
export const KEYS = [MARKER, MEMBERS, EXPECTED, INDEX];
export const DURABLE = { args: ['--appendonly', 'yes', '--appendfsync', 'always'] };
export const HOUR_MS = 3_600_000;
/** Nothing waits so long within a test. */
export const FAR_MS = 30_000;

type Change = Partial<Omit<RedisOrderRecordsOptions, 'timing' | 'onWarn'>> & {
  readonly timing?: Partial<RedisTiming>;
};

/** The rest of a record's day, or of its account's: Redis drops it two days later, since its clock may be wrong by one. */
export async function restMs(redis: TestRedis, key: string): Promise<number> {
  return Number(await redis.command('PTTL', `${PREFIX}:${key}`)) - 48 * HOUR_MS;
}

/** Runs a script as a replica does that knows of no replica of Redis, and whose clock is the gateway's. */
export function runScript(
  redis: TestRedis,
  script: string,
  args: readonly (string | number)[],
  keys: readonly string[] = [],
): Promise<unknown> {
  const all = [...KEYS, ...keys];
  return redis.command('EVAL', script, all.length, ...all, ...args, '', 0, Date.now(), Date.now());
}

/** The order records of one replica, with frequent heartbeats, and with waits that do not end unless the test changes them. */
export async function openReplica(url: string, { timing, ...change }: Change = {}) {
  const warnings: string[] = [];
  const records = await openRedisOrderRecords({
    url,
    max: 1_000,
    clock: systemClock,
    redisTimeoutMs: FAR_MS,
    prefix: 'trading-graph:',
    uptimeMs: () => performance.now(),
    gatewaySkewMs: () => 0,
    onWarn: (message) => void warnings.push(message),
    timing: { beatMs: 50, graceMs: 300, leaseMs: FAR_MS, patienceMs: FAR_MS, ...timing },
    ...change,
  });
  return { records, warnings, [Symbol.asyncDispose]: () => records.close() };
}

/** A new epoch is not open immediately, and replicas learn of each other only in one that is. */
export async function openReadyReplica(url: string, change: Change = {}) {
  const replica = await openReplica(url, change);
  await eventually(() => replica.records.degradedReason() === null);
  return replica;
}

export async function membersOf(redis: TestRedis): Promise<string[]> {
  return (await redis.command('ZRANGE', MEMBERS, 0, -1)) as string[];
}

/** Waits until every replica has seen a heartbeat of all others since now; one that is called `dead` has none. */
export async function twoBeats(redis: TestRedis): Promise<void> {
  const scores = async () => {
    const scored = await redis.command('ZRANGE', MEMBERS, 0, -1, 'WITHSCORES');
    return (scored as [string, string][]).flatMap(([member, score]) =>
      member === 'dead' ? [] : Number(score),
    );
  };
  for (let beat = 0; beat < 2; beat += 1) {
    const before = Math.max(...(await scores()));
    await eventually(async () => (await scores()).every((score) => score > before));
  }
}

/** The commands of an operator. */
export function openOperator(redisUrl: string) {
  return openOperatorRecords({
    redisUrl,
    orderStore: 'memory',
    prefix: 'trading-graph:',
    redisReplicas: null,
    durability: 'wished',
    max: 2_000,
    onWarn() {},
  });
}
