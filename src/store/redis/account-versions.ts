import DataLoader from 'dataloader';
import type { Account } from '../../lib/account.ts';
import { type Clock, within } from '../../lib/clock.ts';
import { RecordsUnavailableError } from '../order-records.ts';
import type { AccountVersion, AccountVersions } from '../shared-store.ts';
import type { RedisConnection } from './connection.ts';
import { VERSIONS } from './order-scripts.ts';
import type { OrderStore } from './order-store.ts';
import { answersIn, textIn } from './replies.ts';

// A read waits for it: a Redis that is slow must not make the facade slow.
const TIMEOUT_MS = 200;
const PAUSE_MS = 1_000;
const BATCH = 200;

/**
 * Reads the versions of accounts, those that are asked for at the same time by one script. It uses the
 * connection of the order records, whose heartbeat notices a Redis that is no primary any more.
 */
export function createRedisAccountVersions(
  redis: RedisConnection,
  clock: Clock,
  store: Pick<OrderStore, 'marker' | 'versionOf'>,
  timeoutMs = TIMEOUT_MS,
): AccountVersions {
  /** A Redis that comes back may have lost its last writes, so each connection is an epoch of its own. */
  let connection = 0;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  redis.onReady(() => {
    connection += 1;
  });

  async function ask(accounts: readonly Account[]): Promise<AccountVersion[]> {
    const asked = connection;
    // It keeps no answer: whoever asks from now on wants a newer one.
    loader.clearAll();
    try {
      const keys = [store.marker, ...accounts.map((account) => store.versionOf(account))];
      const answer = await within(clock, timeoutMs, redis.run(VERSIONS, keys, []));
      if (answer === null) throw new RecordsUnavailableError('Redis did not answer in time');
      const [epoch, ...versions] = answersIn(answer, keys.length).map(textIn);
      return accounts.map((_account, at) => ({
        epoch: `${asked} ${epoch}`,
        version: versions[at] || null,
      }));
    } catch (error) {
      pausedUntilMs = clock.now() + PAUSE_MS;
      throw error;
    }
  }

  const loader = new DataLoader(ask, {
    batchScheduleFn: (flush) => setImmediate(flush),
    maxBatchSize: BATCH,
  });

  return {
    async read(account) {
      if (clock.now() < pausedUntilMs) throw new RecordsUnavailableError('Redis did not answer');
      return loader.load(account);
    },
  };
}
