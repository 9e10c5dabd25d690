import type { Account } from '../../../lib/account.ts';
import { type Reservation, recordId } from '../order-records.ts';
import { isOfNeverSent } from '../record-shares.ts';
import type { RedisConnection } from './connection.ts';
import { answerIn } from './replies.ts';

export type OrderScripts = ReturnType<typeof orderScripts>;

/** Runs the scripts of the order records, and names their keys. `common`: the arguments that each has at its end. */
export function orderScripts(
  redis: Pick<RedisConnection, 'run'>,
  keyPrefix: string,
  common: () => readonly (string | number)[],
) {
  // In braces: all keys of a script on one node, should Redis be a cluster behind a proxy.
  const prefix = `${keyPrefix}{orders}`;
  /** Hash: which epoch this is, of which run of Redis, and when its reservations begin. */
  const marker = `${prefix}:epoch`;
  // Sorted set: replicas by the time of their last heartbeat.
  const members = `${prefix}:members`;
  // Sorted set: the replicas of this epoch; 1 while one has to write its records back, 0 once it has.
  const expected = `${prefix}:expected`;
  // Sorted set: every record's id by the time it ends. Each account has two of its own, with the share before each id, and one
  // of its orders that the gateway has rejected.
  const index = `${prefix}:index`;
  const versionOf = (account: Account) => `${prefix}:version:${encodeURIComponent(account)}`;
  const sharesOf = (account: Account) => ({
    orders: `${prefix}:account:${encodeURIComponent(account)}`,
    neverSent: `${prefix}:voids:${encodeURIComponent(account)}`,
    rejected: `${prefix}:rejected:${encodeURIComponent(account)}`,
  });
  return {
    marker,
    versionOf,
    /** `keys`: those after the first four, which every script has. */
    async run(
      script: string,
      args: readonly (string | number)[],
      keys: readonly string[] = [],
    ): Promise<readonly unknown[]> {
      const all = [...args, ...common()];
      const reply = await redis.run(script, [marker, members, expected, index, ...keys], all);
      return answerIn(script, reply);
    },
    sharesOf,
    /** The keys of the record, of its account's records of the same kind, of its account's version and its rejected orders. */
    keysOf: ({ account, key, id = '' }: Pick<Reservation, 'account' | 'key'> & { id?: string }) => [
      `${prefix}:record:${recordId(account, key)}`,
      sharesOf(account)[isOfNeverSent(id) ? 'neverSent' : 'orders'],
      versionOf(account),
      sharesOf(account).rejected,
    ],
  };
}
