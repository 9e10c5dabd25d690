import { StoreError } from '../store-error.ts';
import type { RedisConnection } from './connection.ts';
import { DURABLE } from './order-scripts.ts';

/** Throws a StoreError where Redis forgets. One that does not answer is judged once it does. */
export async function assertDurable(redis: RedisConnection): Promise<void> {
  const told = await redis.run(DURABLE, [], []).catch(() => null);
  const reason = told === null ? null : forgetfulness(told);
  if (reason === null) return;
  throw new StoreError(`${reason}: set appendonly yes, or REDIS_REPLICAS=none to accept that`);
}

/** Why a restart of Redis would forget orders; null where it would not. */
export function forgetfulness(durable: unknown): string | null {
  if (durable === '1') return null;
  const cause =
    durable === '0'
      ? 'Redis has appendonly no'
      : 'Redis does not tell whether it has appendonly yes (it refuses INFO)';
  return `${cause}, so that a restart would forget orders, which would then be sent again`;
}
