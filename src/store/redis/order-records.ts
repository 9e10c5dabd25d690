import type { Account } from '../../lib/account.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { gapReason } from '../order-gap.ts';
import {
  AccountRecordsFullError,
  CLOSED_DIGEST,
  CUT_OFF_GRACE_MS,
  type CutOffOrder,
  closedBy,
  closedReservation,
  HELD,
  IS_NEW,
  isGatewayRejection,
  mayHaveChanged,
  NO_TIMES,
  type OrderRecord,
  type OrderRecords,
  RENAMED,
  type RecordedOutcome,
  RecordsForgottenError,
  RecordsGapError,
  type RecordsStatus,
  RecordsUnavailableError,
  type Reservation,
  type ReserveAnswer,
  type ReserveRequest,
  rank,
  recordId,
  storeFull,
  toReservation,
  type VoidAnswer,
  type VoidRequest,
} from '../order-records.ts';
import { isOfNeverSent, type RecordBounds } from '../record-shares.ts';
import { isSettled } from '../settlement.ts';
import { StoreError } from '../store-error.ts';
import { RedisAccountVersions } from './account-versions.ts';
import {
  connectRedis,
  REDIS_TIMEOUT_MS,
  type RedisConnection,
  type RedisConnectionOptions,
  RedisSilentError,
} from './connection.ts';
import { CUT_OFF, FIND, LOOK, RELEASE, RESERVE, SETTLE, VOID } from './order-scripts.ts';
import {
  NotCopiedError,
  notCopied,
  OrderStore,
  RecordsAbsentError,
  shortOf,
} from './order-store.ts';
import { keyOfRecord, momentIn, readRecord } from './record-answers.ts';
import { isUnwritable } from './redis-health.ts';
import { figureIn, outcomeIn, textIn } from './replies.ts';
import { forgetfulness, readLook, type StoreLook, UNDECIDED } from './store-look.ts';
import { UnsentReservations } from './unsent-reservations.ts';

export interface RedisOrderRecordsOptions extends RecordBounds, RedisConnectionOptions {
  readonly clock: Clock;
  /** Whether a Redis that forgets orders over a restart is refused. */
  readonly requiresAppendonly?: boolean;
  /** How many replicas of Redis must have a record; null for the most that were ever seen. */
  readonly redisReplicas?: number | null;
  /** How far the gateway's clock is ahead of this machine's; null while it was not measured. */
  readonly gatewaySkewMs?: (() => number | null) | undefined;
  /** When true, Redis is looked at once. */
  readonly isInspection?: boolean;
  /** How long a new store takes no order: processes that remember another store look at it first. */
  readonly graceMs?: number;
}

/** Each look dates the marker, by which a promotion is judged. */
const LOOK_MS = 500;
const GRACE_MS = 2_000;
/** Opens the order records that processes share through Redis. */
export async function openRedisOrderRecords(
  options: RedisOrderRecordsOptions,
): Promise<RedisOrderRecords> {
  const [redis, writer] = await Promise.all([connectRedis(options), connectRedis(options)]);
  const records = new RedisOrderRecords(redis, writer, options);
  await records.look();
  // A Redis that does not answer yet is judged by a later look.
  const reason = records.forgetsOrders();
  if (reason === null) return records;
  await records.close();
  throw new StoreError(`${reason}: set appendonly yes, or REDIS_REPLICAS=none to accept that`);
}

class RedisOrderRecords implements OrderRecords {
  readonly versions: RedisAccountVersions;
  readonly #options: RedisOrderRecordsOptions;
  readonly #redis: RedisConnection;
  readonly #writer: RedisConnection;
  readonly #store: OrderStore;
  readonly #unsent = new UnsentReservations((reservation) => this.release(reservation));
  /** What the newest look has found; null before the first. */
  #seen: StoreLook | null = null;
  /** Known even where Redis has no store yet. */
  #durable: string | null = null;
  #failure: string | null = 'not connected yet';
  #cancelLook = () => {};
  #isClosed = false;

  constructor(redis: RedisConnection, writer: RedisConnection, options: RedisOrderRecordsOptions) {
    const { prefix, clock, accounts = '', redisReplicas = null, redisTimeoutMs } = options;
    const { gatewaySkewMs = () => null, isInspection: isOperator = false } = options;
    this.#options = options;
    this.#redis = redis;
    this.#writer = writer;
    const waitMs = Math.round(0.8 * (redisTimeoutMs ?? REDIS_TIMEOUT_MS));
    const of = { prefix, clock, accounts, redisReplicas, gatewaySkewMs, waitMs, isOperator };
    this.#store = new OrderStore(redis, writer, of);
    this.versions = new RedisAccountVersions(redis, clock, this.#store, redisTimeoutMs);
    redis.onReady(() => fireAndForget('redis', this.look()));
  }

  async reserve(request: ReserveRequest): Promise<ReserveAnswer> {
    const reservation = toReservation(request);
    const { keyMadeMs = null } = request;
    const refused = this.forgetsOrders();
    if (refused !== null) {
      const record = await this.find(request.account, request.key);
      if (record === null) throw new RecordsUnavailableError(refused);
      return { reserved: false, record };
    }
    try {
      const answer = await this.#add(RESERVE, reservation, keyMadeMs, []);
      if (answer[0] === 'reserved') return { reserved: true, reservation };
      return { reserved: false, record: this.#recordIn(answer, keyMadeMs) };
    } catch (error) {
      if (mayBeWritten(error)) this.#unsent.add(reservation);
      return { reserved: false, record: await this.#recordInstead(reservation, error) };
    }
  }

  async settle(
    reservation: Reservation,
    outcome: RecordedOutcome,
    { sentAtMs, answeredAtMs } = NO_TIMES,
  ): Promise<RecordedOutcome | null> {
    const { account, key, id, inputDigest, reservedAtMs, asked = null } = reservation;
    const how = mayHaveChanged(outcome) ? 'changed' : isGatewayRejection(outcome) ? 'rejected' : '';
    const answer = await this.#store.write(SETTLE, [
      recordId(account, key),
      id,
      rank(outcome),
      JSON.stringify(outcome),
      how,
      sentAtMs ?? '',
      answeredAtMs ?? '',
      inputDigest,
      reservedAtMs,
      JSON.stringify(asked),
      Number(isOfNeverSent(id)),
    ]);
    if (answer[0] === 'undecided') throw new RecordsUnavailableError(UNDECIDED);
    const present = answer[0] === 'settled' ? outcomeIn(answer[1]) : null;
    return isSettled(present) ? present : null;
  }

  async release({ account, key, id }: Reservation): Promise<void> {
    await this.#store.write(RELEASE, [recordId(account, key), id]);
  }

  async find(account: Account, key: string): Promise<OrderRecord | null> {
    const asked = [recordId(account, key)];
    const answer = await this.#store.run(FIND, asked);
    if (answer[0] === 'none') return null;
    const record = this.#recordIn(answer);
    // A closed key counts only once enough replicas of Redis have it.
    if (record.inputDigest !== CLOSED_DIGEST) return record;
    return this.#recordIn(await this.#store.write(FIND, asked));
  }

  async voidKey(request: VoidRequest): Promise<VoidAnswer> {
    const reservation = closedReservation(request);
    // The script knows how far back Redis remembers.
    const outcome = JSON.stringify(closedBy(request.keyAgeMs, 0));
    const answer = await this.#add(VOID, reservation, null, [outcome]);
    const record = this.#recordIn(answer);
    return { voided: record.id === reservation.id, record };
  }

  async cutOff(): Promise<readonly CutOffOrder[]> {
    const [, ...found] = await this.#store.run(CUT_OFF, [CUT_OFF_GRACE_MS]);
    const ids = found.filter((_, at) => at % 2 === 0).map(textIn);
    return ids.map((id, at) => ({ ...keyOfRecord(id), reservedAtMs: figureIn(found[2 * at + 1]) }));
  }

  get status(): RecordsStatus {
    const { held = 0, isHeld = false, isIncomplete = false, lossUntilMs = null } = this.#seen ?? {};
    return {
      held,
      degradedReason: this.#degradedReason(),
      gapReason: isIncomplete ? gapReason('the order records in Redis', lossUntilMs) : null,
      holdReason: isHeld ? HELD : null,
    };
  }

  /** Why no order is sent for want of replicas of Redis; null while they are there. */
  copiesReason(): string | null {
    const { connected = 0 } = this.#seen ?? {};
    const { wanted, isLate } = this.#store;
    const isUntold = connected < 0 && (this.#options.redisReplicas ?? null) === null;
    if (isUntold || (connected >= 0 && connected < wanted)) return shortOf(connected, wanted);
    return isLate ? 'replicas of Redis fall behind' : null;
  }

  /** Why a restart of Redis would forget orders; null where it would not, or may. */
  forgetsOrders(): string | null {
    if (!this.#options.requiresAppendonly || this.#durable === null) return null;
    return forgetfulness(this.#durable);
  }

  /** Whether Redis takes commands. */
  isUp(): boolean {
    return this.#redis.isReady;
  }

  /** Reads the state of the store without an order. */
  async look(): Promise<void> {
    this.#cancelLook();
    try {
      const { loss, wanted } = this.#store;
      const asked = [Number(this.#failure !== null), wanted];
      const seen = readLook(await this.#store.run(LOOK, asked));
      this.#warnOf(seen, loss);
      this.#seen = seen;
      this.#durable = seen.durable;
      this.#failure = seen.refusal;
      this.#unsent.releaseAll();
    } catch (error) {
      if (error instanceof RecordsAbsentError) {
        this.#options.onWarn(`${this.#store.marker} in Redis ${IS_NEW}`);
        this.#warnOfEviction(error.eviction);
        this.#durable = error.durable;
        this.#failure = null;
      } else this.#failure = reasonOf(error);
    }
    if (this.#isClosed || this.#options.isInspection) return;
    this.#cancelLook();
    this.#cancelLook = this.#options.clock.after(LOOK_MS, () =>
      fireAndForget('redis', this.look()),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook();
    this.#redis.close();
    this.#writer.close();
  }

  #warnOf({ isNew, isIncomplete, eviction }: StoreLook, formerLoss: string): void {
    const { onWarn } = this.#options;
    const { marker, loss } = this.#store;
    // A loss has a warning of its own.
    if (isNew && !isIncomplete) onWarn(`${marker} in Redis ${IS_NEW}`);
    if (loss !== '' && loss !== formerLoss && isIncomplete) {
      onWarn('Redis may lack orders: it is another one, was emptied or restarted');
    }
    if (eviction !== this.#seen?.eviction) this.#warnOfEviction(eviction);
  }

  #warnOfEviction(policy: string | null): void {
    if (policy === null) return;
    const text = `Redis has maxmemory-policy ${policy}: it may drop order records; set noeviction`;
    this.#options.onWarn(text);
  }

  #degradedReason(): string | null {
    if (this.#failure !== null) return `the order records in Redis: ${this.#failure}`;
    if (this.#seen === null) return null;
    const { held, hasRejected, isUndecided, isRenamed } = this.#seen;
    if (isRenamed) return RENAMED;
    if (isUndecided) return UNDECIDED;
    const isFull = held >= this.#options.max && !hasRejected;
    return this.forgetsOrders() ?? (isFull ? 'all order records are in use' : null);
  }

  /** Runs a script that makes a record. It runs twice where it found a loss first, or where the store is too new. */
  async #add(
    script: string,
    of: Reservation,
    keyMadeMs: number | null,
    more: readonly string[],
  ): Promise<readonly unknown[]> {
    const { max, maxPerAccount = max, clock, graceMs = GRACE_MS } = this.#options;
    const { account, key, id, inputDigest, reservedAtMs, pendingMs, asked = null } = of;
    const values = [
      recordId(account, key),
      id,
      inputDigest,
      reservedAtMs,
      pendingMs,
      JSON.stringify(asked),
      max,
      maxPerAccount,
      Number(isOfNeverSent(id)),
      keyMadeMs ?? '',
      graceMs,
      ...more,
    ];
    const { loss } = this.#store;
    const answer = await this.#store.write(script, values);
    // No longer: the clock of Redis may have been set back.
    if (answer[0] === 'young') await pause(clock, Math.min(figureIn(answer[1]), graceMs));
    else if (answer[0] !== 'incomplete' || loss === this.#store.loss) return answer;
    return this.#store.write(script, values);
  }

  /** A Redis without room for writes still answers reads. */
  async #recordInstead({ account, key }: Reservation, error: unknown): Promise<OrderRecord> {
    if (!(error instanceof RedisSilentError) || !isUnwritable(error.cause)) throw error;
    const record = await this.find(account, key);
    this.#failure = reasonOf(error);
    if (record !== null) return record;
    throw new RecordsUnavailableError(error.message, { earlierUnknown: false, cause: error });
  }

  /** Throws what the script answered with in place of a record. */
  #recordIn(answer: readonly unknown[], keyMadeMs: number | null = null): OrderRecord {
    const [status, detail, more] = answer;
    const { max, maxPerAccount = max } = this.#options;
    switch (status) {
      case 'held':
        return readRecord(answer);
      case 'account':
      case 'unsent':
        throw new AccountRecordsFullError({ max, maxPerAccount }, status === 'unsent');
      case 'full':
        throw storeFull(max);
      case 'incomplete':
        throw new RecordsGapError(momentIn(detail), keyMadeMs);
      case 'forgotten':
        throw new RecordsForgottenError();
      case 'copies':
        throw notCopied(shortOf(figureIn(detail), figureIn(more)));
      default:
        throw new RecordsUnavailableError(REFUSALS[String(status)] ?? `Redis answered ${status}`);
    }
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  renamed: RENAMED,
  evicted: 'Redis has dropped the record of this key before its time (see maxmemory-policy)',
  undecided: UNDECIDED,
  young: 'the order records in Redis are new: processes that remember others are waited for',
};

function mayBeWritten(error: unknown): boolean {
  return error instanceof RedisSilentError || error instanceof NotCopiedError;
}
