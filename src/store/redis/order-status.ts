import { RecordsUnavailableError } from '../order-records.ts';
import { connectRedis, type RedisConnectionOptions } from './connection.ts';
import { type Durability, forgetfulness } from './durability.ts';
import { DECLARE, FREE, STATUS } from './operator-scripts.ts';
import { type OrderScripts, orderScripts } from './order-scripts.ts';
import { INCOMPLETE } from './record-answers.ts';

type Connection = RedisConnectionOptions & { readonly prefix: string };

interface RedisOrderStatusOptions extends Connection {
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
export function readRedisOrderStatus({
  max,
  durability,
  declared = null,
  ...connection
}: RedisOrderStatusOptions) {
  return asked(connection, async (scripts) => {
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
  });
}

/** How many records count for the account no more; null where Redis does not answer. */
export function freeInRedis(connection: Connection, login: string): Promise<number | null> {
  return asked(connection, async (scripts) => {
    const [, freed] = await scripts.run(FREE, [], Object.values(scripts.sharesOf(login)));
    return Number(freed);
  });
}

async function asked<T>(
  connection: Connection,
  ask: (scripts: OrderScripts) => Promise<T>,
): Promise<T | null> {
  const redis = await connectRedis(connection);
  try {
    return await ask(orderScripts(redis, connection.prefix));
  } catch (error) {
    // The connection has said why.
    if (error instanceof RecordsUnavailableError) return null;
    throw error;
  } finally {
    redis.close();
  }
}
