import DataLoader from 'dataloader';
import type { Account } from '../../lib/account.ts';
import { type Clock, within } from '../../lib/clock.ts';
import { RecordsUnavailableError } from '../refusals.ts';
import type { AccountVersion, AccountVersions } from '../shared-store.ts';
import type { RedisOrderRecordsOptions } from './order-store.ts';
import type { RedisOrderRecords } from './redis-records.ts';
import { READ_PRIMARY } from './script-head.ts';

// Reads of clients wait for the versions, so the limit is short: a slow Redis must not make the service slow.
const TIMEOUT_MS = 200;
/** How long Redis is not asked after a failure. */
const PAUSE_MS = 1_000;
const MAX_BATCH = 200;

/** KEYS: the marker, then versions of accounts. Returns the ids of the primary with those of the losses, then each version. */
const VERSIONS = `${READ_PRIMARY}
local answer = {run .. ' ' .. (redis.call('HGET', KEYS[1], 'losses') or '')}
for i = 2, #KEYS do answer[i] = redis.call('GET', KEYS[i]) or '' end
return answer
`;

/** Reads the versions of accounts. Simultaneous requests share one script call. */
export class RedisAccountVersions implements AccountVersions {
  readonly #records: RedisOrderRecords;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #loader = new DataLoader((accounts: readonly Account[]) => this.#ask(accounts), {
    batchScheduleFn: (flush) => setImmediate(flush),
    maxBatchSize: MAX_BATCH,
  });
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    records: RedisOrderRecords,
    {
      clock,
      redisTimeoutMs = TIMEOUT_MS,
    }: Pick<RedisOrderRecordsOptions, 'clock' | 'redisTimeoutMs'>,
  ) {
    this.#records = records;
    this.#clock = clock;
    this.#timeoutMs = redisTimeoutMs;
  }

  async read(account: Account): Promise<AccountVersion> {
    if (this.#clock.now() < this.#pausedUntilMs) {
      throw new RecordsUnavailableError('Redis did not answer');
    }
    return this.#loader.load(account);
  }

  async #ask(accounts: readonly Account[]): Promise<AccountVersion[]> {
    // The loader must not cache: a later read needs a newer version.
    this.#loader.clearAll();
    const { redis, store } = this.#records;
    const keys = [store.marker, ...accounts.map((account) => store.versionOf(account))];
    try {
      const answer = await within(this.#clock, this.#timeoutMs, redis.run(VERSIONS, keys, []));
      if (!Array.isArray(answer) || answer.length !== keys.length) {
        throw new RecordsUnavailableError(
          'Redis did not answer in time, or its answer cannot be read',
        );
      }
      const [epoch = '', ...versions] = answer.map(String);
      return versions.map((version) => ({ epoch, version: version || null }));
    } catch (error) {
      this.#pausedUntilMs = this.#clock.now() + PAUSE_MS;
      throw error;
    }
  }
}
