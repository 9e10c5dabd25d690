import { RecordsUnavailableError } from '../order-records.ts';
import { connectRedis, type RedisConnectionOptions } from './connection.ts';
import { type Durability, forgetfulness } from './durability.ts';
import { DECLARE, STATUS } from './operator-scripts.ts';
import { orderScripts } from './order-scripts.ts';
import { INCOMPLETE } from './record-answers.ts';

interface RedisOrderStatusOptions extends RedisConnectionOptions {
  readonly prefix: string;
  readonly max: number;
  readonly durability: Durability;
  readonly declared?: 'complete' | 'incomplete' | null;
}

const REFUSALS: Readonly<Record<string, string>> = {
  lost: 'Redis may have lost order records; the replicas write theirs back',
  recovering: 'the order records are being written back to Redis',
};

/**
 * Asks Redis about the order records without joining the replicas, once it has heard the operator's word on whether
 * some are missing; null where it does not answer.
 */
export async function readRedisOrderStatus({
  max,
  durability,
  declared = null,
  ...connection
}: RedisOrderStatusOptions) {
  const redis = await connectRedis(connection);
  try {
    const scripts = orderScripts(redis, connection.prefix);
    if (declared !== null) await scripts.run(DECLARE, [declared === 'complete' ? 0 : 2]);
    const probe = `${scripts.marker}:probe`;
    const [status, held, replicas, refusal, durable, missing] = await scripts.run(
      STATUS,
      [],
      [probe],
    );
    const isFull = Number(held) >= max;
    const reasons = [
      refusal ? `Redis refuses to write: ${refusal}` : null,
      REFUSALS[String(status)] ?? null,
      durability === 'required' ? forgetfulness(durable) : null,
      missing === 1 ? INCOMPLETE : null,
      isFull ? `all ${max} order records are in use` : null,
      Number(replicas) === 0 ? 'no replica is connected to Redis' : null,
    ];
    return {
      held: Number(held),
      /** The number of replicas that have sent a heartbeat lately. */
      replicas: Number(replicas),
      /** The reason for which orders are refused; null while they are taken. */
      refusedFor: reasons.find((reason) => reason !== null) ?? null,
    };
  } catch (error) {
    // The connection has said why.
    if (error instanceof RecordsUnavailableError) return null;
    throw error;
  } finally {
    redis.close();
  }
}
