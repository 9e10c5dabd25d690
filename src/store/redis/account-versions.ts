import DataLoader from 'dataloader';
import type { Account } from '../../lib/account.ts';
import { type Clock, within } from '../../lib/clock.ts';
import { RecordsUnavailableError } from '../order-records.ts';
import type { AccountVersion, AccountVersions } from '../shared-store.ts';
import type { RedisConnection } from './connection.ts';
import { VERSIONS } from './order-scripts.ts';
import type { OrderStore } from './order-store.ts';
import { answersIn, textIn } from './replies.ts';

// A read waits for it: a Redis that is slow must not make the service slow.
const TIMEOUT_MS = 200;
const PAUSE_MS = 1_000;
const BATCH = 200;

/**
 * Reads the versions of accounts, those that are asked for at the same time by one script. It uses the
 * connection of the order records, which notices a Redis that is no primary any more.
 */
export class RedisAccountVersions implements AccountVersions {
  readonly #redis: RedisConnection;
  readonly #clock: Clock;
  readonly #store: Pick<OrderStore, 'marker' | 'versionOf'>;
  readonly #timeoutMs: number;
  readonly #loader = new DataLoader((accounts: readonly Account[]) => this.#ask(accounts), {
    batchScheduleFn: (flush) => setImmediate(flush),
    maxBatchSize: BATCH,
  });
  /** A Redis that comes back may have lost its last writes, so each connection is an epoch of its own. */
  #connection = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    redis: RedisConnection,
    clock: Clock,
    store: Pick<OrderStore, 'marker' | 'versionOf'>,
    timeoutMs = TIMEOUT_MS,
  ) {
    this.#redis = redis;
    this.#clock = clock;
    this.#store = store;
    this.#timeoutMs = timeoutMs;
    redis.onReady(() => {
      this.#connection += 1;
    });
  }

  async read(account: Account): Promise<AccountVersion> {
    if (this.#clock.now() < this.#pausedUntilMs) {
      throw new RecordsUnavailableError('Redis did not answer');
    }
    return this.#loader.load(account);
  }

  async #ask(accounts: readonly Account[]): Promise<AccountVersion[]> {
    const asked = this.#connection;
    // It keeps no answer: a later read wants a newer one.
    this.#loader.clearAll();
    try {
      const { marker } = this.#store;
      const keys = [marker, ...accounts.map((account) => this.#store.versionOf(account))];
      const running = this.#redis.run(VERSIONS, keys, []);
      const answer = await within(this.#clock, this.#timeoutMs, running);
      if (answer === null) throw new RecordsUnavailableError('Redis did not answer in time');
      const [epoch, ...versions] = answersIn(answer, keys.length).map(textIn);
      return accounts.map((_account, at) => ({
        epoch: `${asked} ${epoch}`,
        version: versions[at] || null,
      }));
    } catch (error) {
      this.#pausedUntilMs = this.#clock.now() + PAUSE_MS;
      throw error;
    }
  }
}
