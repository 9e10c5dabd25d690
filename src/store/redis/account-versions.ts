import { type Clock, within } from '../../../lib/clock.ts';
import type { AccountVersion, AccountVersions } from '../account-versions.ts';
import { RecordsUnavailableError } from '../order-records.ts';
import type { RedisConnection } from './connection.ts';
import type { OrderScripts } from './order-scripts.ts';
import { VERSIONS } from './scripts.ts';

type Waiting = PromiseWithResolvers<AccountVersion>;

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
  scripts: OrderScripts,
  timeoutMs = TIMEOUT_MS,
): AccountVersions {
  /** A Redis that comes back may have lost its last writes, so each connection is an epoch of its own. */
  let connection = 0;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let waiting = new Map<string, Waiting>();
  redis.onReady(() => {
    connection += 1;
  });

  async function ask(batch: readonly (readonly [string, Waiting])[]): Promise<void> {
    const asked = connection;
    try {
      const keys = [scripts.marker, ...batch.map(([login]) => scripts.versionOf(login))];
      const answer = await within(clock, timeoutMs, redis.run(VERSIONS, keys, []));
      if (!Array.isArray(answer)) throw new RecordsUnavailableError('Redis did not answer in time');
      const [epoch, ...versions] = answer.map(String);
      for (const [at, [, { resolve }]] of batch.entries()) {
        resolve({ epoch: `${asked} ${epoch}`, version: versions[at] || null });
      }
    } catch (error) {
      pausedUntilMs = clock.now() + PAUSE_MS;
      for (const [, { reject }] of batch) reject(error);
    }
  }

  function flush(): void {
    const all = [...waiting];
    waiting = new Map();
    for (let at = 0; at < all.length; at += BATCH) void ask(all.slice(at, at + BATCH));
  }

  return {
    async read(login) {
      if (clock.now() < pausedUntilMs) throw new RecordsUnavailableError('Redis did not answer');
      if (waiting.size === 0) setImmediate(flush);
      const known = waiting.get(login);
      if (known) return known.promise;
      const asked = Promise.withResolvers<AccountVersion>();
      waiting.set(login, asked);
      return asked.promise;
    },
  };
}
