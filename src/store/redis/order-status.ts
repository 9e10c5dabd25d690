import type { OperatorStatus } from '../operator-records.ts';
import { gapReason } from '../order-gap.ts';
import { HELD } from '../order-records.ts';
import { connectRedis, type RedisConnectionOptions } from './connection.ts';
import { copiedScripts } from './copied-scripts.ts';
import { shortOf, watchCopies } from './copies.ts';
import { type Durability, forgetfulness } from './durability.ts';
import { orderScripts } from './order-scripts.ts';
import { momentIn } from './record-answers.ts';
import { figureIn } from './replies.ts';
import { COMMON } from './scripts.ts';

export interface RedisStatusOptions extends RedisConnectionOptions {
  /** As the service has it. */
  readonly redisReplicas: number | null;
}

export interface RedisOperatorOptions extends RedisStatusOptions {
  readonly max: number;
  readonly durability: Durability;
}

export type RedisOperator = Awaited<ReturnType<typeof connectOperator>>;

const COPIED_MS = 800;
const REFUSALS: Readonly<Record<string, string>> = {
  lost: 'Redis may have lost order records; the replicas write theirs back',
  recovering: 'the order records are being written back to Redis',
};

/** Asks Redis about the order records without joining the replicas. */
export async function readOrderStatus(
  { scripts }: RedisOperator,
  { max, durability, redisReplicas }: RedisOperatorOptions,
): Promise<OperatorStatus> {
  const probe = `${scripts.marker}:probe`;
  const [status, held, replicas, refusal, durable, missing, until, isHeld, connected, wanted] =
    await scripts.run(STATUS, [], [probe]);
  const isFull = figureIn(held) >= max;
  const reasons = [
    refusal ? `Redis refuses to write: ${refusal}` : null,
    REFUSALS[String(status)] ?? null,
    durability === 'required' ? forgetfulness(durable) : null,
    isHeld === 1 ? HELD : null,
    redisReplicas !== 0 && figureIn(connected) < figureIn(wanted)
      ? shortOf(figureIn(connected), figureIn(wanted))
      : null,
    isFull ? `all ${max} order records are in use` : null,
    figureIn(replicas) === 0 ? 'no replica is connected to Redis' : null,
  ];
  return {
    held: figureIn(held),
    replicas: figureIn(replicas),
    gap: missing === 1 ? gapReason('the order records in Redis', momentIn(until)) : null,
    refusedFor: reasons.find((reason) => reason !== null) ?? null,
  };
}

/** An operator's connection, which joins no replicas of ours and waits for those of Redis. */
export async function connectOperator(connection: RedisStatusOptions) {
  const redis = await connectRedis(connection);
  const copies = watchCopies(connection.redisReplicas, () => performance.now());
  // A command has no gateway to ask: it goes by the clock of its machine.
  const common = () => [...copies.arguments(), Date.now(), Date.now()];
  const scripts = orderScripts(redis, connection.prefix, common);
  const close = () => redis.close();
  try {
    const [, connected, most] = await scripts.run(COPIES, []);
    copies.told(figureIn(connected), figureIn(most));
  } catch (error) {
    close();
    throw error;
  }
  const writes = copiedScripts(redis, scripts, copies, COPIED_MS);
  return { scripts, writes, close, [Symbol.dispose]: close };
}

/** The replicas that have sent a heartbeat in the last seconds. */
const REPLICAS = "redis.call('ZCOUNT', members, now - 3000, '+inf')";

/**
 * KEYS 5: a probe, since a Redis that is full or read-only still answers reads. Answers the state of the epoch, records, replicas,
 * the reason where Redis takes no writes, and how durable it is.
 */
const STATUS = `${COMMON}
local state = current == '' and 'lost' or recovering() and 'recovering' or 'open'
local probe = redis.pcall('SET', KEYS[5], '1')
if not probe.err then redis.call('DEL', KEYS[5]) end
return {state, redis.call('ZCOUNT', index, '(' .. surely, '+inf'),
  ${REPLICAS}, probe.err or '', durable(), incomplete() and 1 or 0, missingUntil() or '', number(15),
  connected(1000), wantedCopies}
`;

const COPIES = `${COMMON}
return {'copies', connected(1000), mostCopies}
`;

/** ARGV: 2 where an operator says that records are missing, 0 where that none are. */
export const DECLARE = `${COMMON}
redis.call('HSET', marker, 'missing', ARGV[1], 'missingAt', later)
return {'declared'}
`;

/** ARGV: 1 where no replica may send an order from its next heartbeat on, else 0. */
export const HOLD = `${COMMON}
redis.call('HSET', marker, 'held', ARGV[1])
return {'held', ${REPLICAS}}
`;

/** KEYS 5 and on: an account's records, which count for it no more, those of rejected orders last; their keys stay used up. */
export const FREE = `
local freed = redis.call('ZCARD', KEYS[5]) + redis.call('ZCARD', KEYS[6])
redis.call('DEL', KEYS[5], KEYS[6], KEYS[7])
return {'freed', freed}
`;
