import { type Clock, pause } from '../../../lib/clock.ts';
import { reasonOf } from '../../../lib/reason-of.ts';
import type { AccountVersions } from '../account-versions.ts';
import { RecordTable, type RecordTableOptions, type TableRecord } from '../memory/record-table.ts';
import {
  closedBy,
  closedReservation,
  closingOf,
  mostOf,
  NEARLY,
  type OrderRecord,
  type OrderRecords,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  RecordsUnavailableError,
  type Reservation,
  type ReserveAnswer,
  type ReserveRequest,
  recordId,
  shareOf,
  toReservation,
  type VoidAnswer,
  type VoidRequest,
} from '../order-records.ts';
import { createRedisAccountVersions } from './account-versions.ts';
import {
  connectRedis,
  REDIS_PREFIX,
  type RedisConnection,
  type RedisConnectionOptions,
  RedisSilentError,
  warnOfSettings,
} from './connection.ts';
import { assertDurable, type Durability, watchDurability } from './durability.ts';
import { REDIS_TIMING, RedisEpoch, type RedisTiming } from './epoch.ts';
import { type OrderScripts, orderScripts } from './order-scripts.ts';
import { ageOf, mergeArguments, readRecord, refusalIn } from './record-answers.ts';
import { FIND, MERGE, RELEASE, RESERVE, VOID } from './scripts.ts';
import { isUnwritable } from './trouble.ts';

export interface RedisOrderRecordsOptions extends RecordTableOptions, RedisConnectionOptions {
  readonly clock: Clock;
  readonly timing?: RedisTiming;
  readonly durability?: Durability;
}

const MERGE_RECORDS = 200;
const POLL_MS = 50;

/**
 * Order records that several replicas share. Each replica also keeps the ones it made: it alone
 * settles them, so its copy is never behind, and Redis can be given back what it lost.
 */
export async function openRedisOrderRecords(
  options: RedisOrderRecordsOptions,
): Promise<OrderRecords & Pick<RedisOrderRecords, 'redisIsUp' | 'versions'>> {
  const redis = await connectRedis(options);
  if (options.durability === 'required') await assertDurable(redis);
  const records = new RedisOrderRecords(redis, options);
  await records.announce();
  void warnOfSettings(redis, options.onWarn);
  return records;
}

class RedisOrderRecords implements OrderRecords {
  readonly redisIsUp = () => this.#redis.isReady();
  readonly versions: AccountVersions;
  readonly #redis: RedisConnection;
  readonly #settings;
  readonly #scripts: OrderScripts;
  readonly #own: RecordTable;
  readonly #epoch: RedisEpoch;
  readonly #durability: ReturnType<typeof watchDurability>;
  /** Reservations whose answer from Redis was lost: Redis may hold them, and their keys must come free. */
  readonly #unanswered = new Map<string, Reservation>();
  #held = 0;

  constructor(redis: RedisConnection, options: RedisOrderRecordsOptions) {
    const { clock, max, maxPerAccount = max, onWarn, uptimeMs, prefix = REDIS_PREFIX } = options;
    const { timing = REDIS_TIMING, durability = 'wished' } = options;
    const { onNearlyFull } = options;
    this.#settings = { clock, max, maxPerAccount, onNearlyFull, onWarn, timing, durability };
    this.#durability = watchDurability(durability, onWarn);
    this.#redis = redis;
    this.#own = new RecordTable({ max: Number.POSITIVE_INFINITY, uptimeMs });
    this.#scripts = orderScripts(redis, prefix);
    const { redisTimeoutMs } = options;
    this.versions = createRedisAccountVersions(redis, clock, this.#scripts, redisTimeoutMs);
    this.#epoch = new RedisEpoch({
      redis,
      scripts: this.#scripts,
      clock,
      uptimeMs,
      timing,
      remembers: durability === 'required',
      restore: (epoch) => this.#restore(epoch),
      onBeat: (held) => this.#beat(held),
      onDurable: (durable) => this.#durability.told(durable),
      onWarn,
    });
  }

  /** Before the first order, so that the replicas there are know of this one. */
  announce(): Promise<void> {
    return this.#epoch.joinOrLater();
  }

  async reserve(request: ReserveRequest): Promise<ReserveAnswer> {
    const own = this.#own.get(request.login, request.key);
    if (own) return { reserved: false, record: own };
    const reservation = toReservation(request);
    let answer: readonly unknown[];
    try {
      answer = await this.#inOpenEpoch((epoch) => this.#reserveOnce(reservation, epoch));
    } catch (error) {
      return { reserved: false, record: await this.#recordInstead(request, error) };
    }
    const [status] = answer;
    if (status === 'reserved') return { reserved: true, reservation };
    return { reserved: false, record: this.#recordIn(answer, reservation) };
  }

  /** A Redis without room for writes still answers reads; one that lacks its replicas may be a primary no more. */
  async #recordInstead({ login, key }: ReserveRequest, error: unknown): Promise<OrderRecord> {
    if (!(error instanceof RedisSilentError) || !isUnwritable(error.cause)) throw error;
    const record = await this.find(login, key);
    // That it can be read says nothing about the next order.
    this.#epoch.observe(reasonOf(error));
    if (record) return record;
    throw new RecordsUnavailableError(error.message, { earlierUnknown: false, cause: error });
  }

  async settle(reservation: Reservation, outcome: RecordedOutcome): Promise<void> {
    this.#own.settle(reservation, outcome);
    const record = this.#own.find(reservation.login, reservation.key);
    if (record) await this.#merge([record], 'none');
  }

  async release(reservation: Reservation): Promise<void> {
    const { id, login, key } = reservation;
    const own = this.#own.get(login, key);
    // Past its time replicas may have answered `unknown`: the key must not come free after that.
    if (own?.pendingMs === 0) return;
    // First, or it could be written back to Redis behind the release.
    this.#own.release(reservation);
    const record = recordId(login, key);
    const keys = this.#scripts.keysOf(reservation);
    const [status] = await this.#scripts.run(RELEASE, [record, id, shareOf(id)], keys);
    if (status !== 'late') return;
    const ageMs = this.#settings.clock.now() - reservation.reservedAtMs;
    this.#own.adopt(reservation, null, Math.max(0, ageMs));
  }

  async find(login: string, key: string): Promise<OrderRecord | null> {
    const own = this.#own.get(login, key);
    if (own) return own;
    const keys = this.#scripts.keysOf({ login, key });
    const answer = await this.#inOpenEpoch((epoch) =>
      this.#scripts.run(FIND, [epoch, recordId(login, key)], keys),
    );
    return answer[0] === 'none' ? null : this.#recordIn(answer, { login, key, id: '' });
  }

  async voidKey(request: VoidRequest): Promise<VoidAnswer> {
    const own = this.#own.get(request.login, request.key);
    if (own) return { voided: false, record: own };
    const reservation = closedReservation(request);
    // The script knows how far Redis remembers.
    const outcome = JSON.stringify(closedBy(request.keyAgeMs, 0));
    const answer = await this.#inOpenEpoch((epoch) => {
      return this.#add(VOID, reservation, epoch, [outcome]);
    });
    const record = this.#recordIn(answer, reservation);
    return { voided: record.id === reservation.id, record };
  }

  held(): number {
    return this.#held;
  }

  degradedReason(): string | null {
    return (
      this.#epoch.degradedReason ??
      this.#durability.refusal() ??
      (this.#held >= this.#settings.max ? 'all order records are in use' : null)
    );
  }

  async close(): Promise<void> {
    await this.#epoch.close();
    this.#redis.close();
  }

  async #reserveOnce(reservation: Reservation, epoch: string): Promise<readonly unknown[]> {
    try {
      const answer = await this.#add(RESERVE, reservation, epoch);
      if (answer[0] === 'reserved') {
        // Before any later script is answered: an epoch that begins next gets it written back.
        this.#own.add(reservation);
        this.#held = Number(answer[1]);
      }
      return answer;
    } catch (error) {
      if (error instanceof RedisSilentError) this.#unanswered.set(reservation.id, reservation);
      throw error;
    }
  }

  /** Runs one of the two scripts that make a record. */
  async #add(
    script: typeof RESERVE | typeof VOID,
    reservation: Reservation,
    epoch: string,
    more: readonly (string | number)[] = [],
  ): Promise<readonly unknown[]> {
    const { id, login, key, canonical, reservedAtMs, pendingMs } = reservation;
    const { max, durability, onNearlyFull } = this.#settings;
    const most = mostOf(this.#settings, id);
    const args = [
      ...[epoch, recordId(login, key), this.#epoch.member, id, canonical, reservedAtMs],
      ...[pendingMs, RECORD_LIFE_MS, max, durability, shareOf(id), most.account, most.token],
      ...[NEARLY, ...more],
    ];
    const answer = await this.#scripts.run(script, args, this.#scripts.keysOf(reservation));
    const [status, detail, isNearlyFull] = answer;
    if (status === 'forgets') this.#durability.told(detail);
    const isFull = status === 'account' || status === 'token';
    if (isFull || isNearlyFull === 1) onNearlyFull?.();
    return answer;
  }

  /** Throws where the script answers with a refusal. */
  #recordIn(
    answer: readonly unknown[],
    { login, key, id }: Pick<Reservation, 'login' | 'key' | 'id'>,
  ): OrderRecord {
    if (answer[0] !== 'held') throw refusalIn(answer, this.#settings, id);
    const record = readRecord(answer);
    if (closingOf(record)) {
      // Whoever says of a key that it is closed gives that back to a Redis which has lost it.
      const { outcome, ...reservation } = record;
      this.#own.adopt({ ...reservation, login, key }, outcome, ageOf(answer));
    }
    return record;
  }

  /** Runs a script that needs an open epoch; waits a little for one, since a first start opens one too. */
  async #inOpenEpoch(run: (epoch: string) => Promise<readonly unknown[]>) {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const answer = await run(this.#epoch.current ?? '').catch((error: unknown) => {
        // Readiness says it with the first order that is refused, not with the next heartbeat.
        this.#epoch.observe(reasonOf(error));
        throw error;
      });
      const [status] = answer;
      const isRefused = status === 'lost' || status === 'foreign' || status === 'recovering';
      this.#epoch.observe(isRefused ? status : 'open');
      if (!isRefused) return answer;
      if (waitedMs >= this.#settings.timing.patienceMs) {
        throw new RecordsUnavailableError('the order records are being written back to Redis');
      }
      if (status !== 'recovering') await this.#epoch.join();
      await pause(this.#settings.clock, POLL_MS);
    }
  }

  async #restore(epoch: string): Promise<void> {
    let batch: TableRecord[] = [];
    for (const record of this.#own.values()) {
      batch.push(record);
      if (batch.length < MERGE_RECORDS) continue;
      await this.#merge(batch, epoch);
      batch = [];
    }
    await this.#merge(batch, epoch);
  }

  /** Gives Redis our copies where it has none, or an older one. */
  async #merge(records: readonly TableRecord[], epoch: string): Promise<void> {
    const keys = records.flatMap(({ reservation }) => this.#scripts.keysOf(reservation));
    const args = records.flatMap((record) => mergeArguments(record, this.#own));
    const all = [epoch, this.#settings.timing.leaseMs, this.#epoch.member, ...args];
    const [, conflicts] = await this.#scripts.run(MERGE, all, keys);
    if (Number(conflicts) > 0) {
      const { onWarn } = this.#settings;
      onWarn(`${conflicts} order keys were reserved twice while Redis had lost them`);
    }
  }

  #beat(held: number | null): void {
    if (held !== null) this.#held = held;
    for (const reservation of this.#unanswered.values()) {
      this.release(reservation).then(
        () => this.#unanswered.delete(reservation.id),
        () => {},
      );
    }
  }
}
