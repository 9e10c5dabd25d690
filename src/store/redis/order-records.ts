import type { Account } from '../../lib/account.ts';
import { pause } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { inTime } from '../in-time.ts';
import { gapReason } from '../order-gap.ts';
import {
  AccountRecordsFullError,
  CLOSED_DIGEST,
  type CutOffOrder,
  closedOutcome,
  closedReservation,
  FULL,
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
import { isNeverSentId } from '../record-shares.ts';
import { type FoundRecord, keyOfRecord, REFUSALS, type Refusal, recordOf } from './answers.ts';
import {
  connectRedis,
  type RedisConnection,
  RedisRefusedError,
  RedisSilentError,
} from './connection.ts';
import { CUT_OFF, FIND, RELEASE, RESERVE, SETTLE, VOID } from './order-scripts.ts';
import {
  NotCopiedError,
  OrderStore,
  RecordsAbsentError,
  type RedisOrderRecordsOptions,
} from './order-store.ts';
import { RedisHealth } from './redis-health.ts';
import { FORGETFUL, LOOK, missingReplicas, type StoreLook, UNDECIDED } from './store-look.ts';

/** The time between two looks at the store. Each look also stores its date, by which a promoted replica is judged. */
const LOOK_MS = 500;
/** Reservations beyond this number are not released: their keys stay used, and their outcomes become unknown. */
const MAX_TO_RELEASE = 10_000;

/** Opens the order records that processes share through Redis. */
export async function openRedisOrderRecords(
  options: RedisOrderRecordsOptions,
): Promise<RedisOrderRecords> {
  const health = new RedisHealth(options.onWarn);
  const connect = () => connectRedis(options, health);
  const [redis, writer] = await Promise.all([connect(), connect()]);
  const records = new RedisOrderRecords(redis, writer, options);
  await records.look();
  if (records.youngMs > 0) await pause(options.clock, records.youngMs);
  return records;
}

export class RedisOrderRecords implements OrderRecords {
  /** The connection that never waits for replicas of Redis (WAIT). */
  readonly redis: RedisConnection;
  readonly store: OrderStore;
  readonly #options: RedisOrderRecordsOptions;
  readonly #writer: RedisConnection;
  /** Reservations that may be in Redis although their orders are not sent. Each release is repeated until it succeeds. */
  readonly #toRelease = new Set<Reservation>();
  /** The findings of the latest look at the store; null before the first look. */
  #seen: StoreLook | null = null;
  /** Whether a restart of Redis loses nothing; known even if Redis has no records yet. */
  #isDurable: boolean | null = null;
  #failure: string | null = 'not connected yet';
  #cancelLook = () => {};
  #isReleasing = false;
  #isClosed = false;

  constructor(redis: RedisConnection, writer: RedisConnection, options: RedisOrderRecordsOptions) {
    this.#options = options;
    this.redis = redis;
    this.#writer = writer;
    this.store = new OrderStore(redis, writer, options);
    redis.onReady(() => fireAndForget('redis', this.look()));
  }

  async reserve(request: ReserveRequest): Promise<ReserveAnswer> {
    const reservation = toReservation(request);
    const { account, key, keyMadeMs } = request;
    try {
      const answer = await this.store.write(RESERVE, {
        ...valuesOf(reservation),
        keyMadeMs: keyMadeMs ?? undefined,
      });
      if (answer.kind === 'reserved') return { reserved: true, reservation };
      return { reserved: false, record: this.#recordIn(answer) };
    } catch (error) {
      const mayBeWritten = error instanceof RedisSilentError || error instanceof NotCopiedError;
      if (mayBeWritten && this.#toRelease.size < MAX_TO_RELEASE) {
        this.#toRelease.add(reservation);
        fireAndForget('redis', this.#releaseAll());
      }
      if (!(error instanceof RedisRefusedError)) throw error;
      // A Redis that is out of memory for writes still answers reads.
      const record = await this.find(account, key);
      if (record !== null) return { reserved: false, record };
      const { message, cause } = error;
      throw new RecordsUnavailableError(message, { earlierUnknown: false, cause });
    }
  }

  async settle(
    reservation: Reservation,
    outcome: RecordedOutcome,
    { sentAtMs, answeredAtMs } = NO_TIMES,
  ): Promise<RecordedOutcome | null> {
    const answer = await this.store.write(SETTLE, {
      ...valuesOf(reservation),
      rank: rank(outcome),
      outcome: JSON.stringify(outcome),
      hasChanged: mayHaveChanged(outcome),
      isRejected: isGatewayRejection(outcome),
      sentAtMs: sentAtMs ?? undefined,
      answeredAtMs: answeredAtMs ?? undefined,
    });
    if (answer.kind === 'undecided') throw new RecordsUnavailableError(UNDECIDED);
    return answer.kind === 'kept' ? JSON.parse(answer.outcome) : null;
  }

  async release(reservation: Reservation): Promise<void> {
    await this.store.write(RELEASE, valuesOf(reservation));
  }

  async find(account: Account, key: string): Promise<OrderRecord | null> {
    const name = recordId(account, key);
    const found = await this.store.run(FIND, { name });
    if (found.kind === 'none') return null;
    const record = this.#recordIn(found);
    // An order's record counts at once. That a key is closed counts only once enough replicas of Redis have it.
    if (record.inputDigest !== CLOSED_DIGEST) return record;
    const closed = await inTime(this.#options.clock, this.store.write(FIND, { name }));
    return closed.kind === 'none' ? null : this.#recordIn(closed);
  }

  async voidKey(request: VoidRequest): Promise<VoidAnswer> {
    const reservation = closedReservation(request);
    // The script replaces the 0 by how far back the records reach.
    const outcome = JSON.stringify(closedOutcome(request.keyAgeMs, 0));
    const values = { ...valuesOf(reservation), outcome };
    const answer = await inTime(this.#options.clock, this.store.write(VOID, values));
    const record = this.#recordIn(answer);
    return { voided: record.id === reservation.id, record };
  }

  async cutOff(): Promise<readonly CutOffOrder[]> {
    const { orders = [] } = await this.store.run(CUT_OFF, {});
    return orders.map(({ id, at }) => ({ ...keyOfRecord(id), reservedAtMs: Number(at) }));
  }

  get status(): RecordsStatus {
    const {
      records: count = 0,
      unsettled = 0,
      isHeld = false,
      isIncomplete = false,
      lossUntilMs = null,
    } = this.#seen ?? {};
    return {
      count,
      unsettled,
      degradedReason: this.#degradedReason(),
      gapReason: isIncomplete ? gapReason('the order records in Redis', lossUntilMs) : null,
      holdReason: isHeld ? HELD : null,
    };
  }

  /** Why orders are not sent for lack of replicas of Redis; null if there are enough. */
  copiesReason(): string | null {
    const { wanted, isLate } = this.store;
    const tooFew = this.#seen && missingReplicas(this.#seen.connected, wanted);
    return tooFew ?? (isLate ? 'replicas of Redis answer too late' : null);
  }

  /** Whether a restart of Redis would lose orders, although the settings do not accept that. */
  get isForgetful(): boolean {
    return this.#options.requiresAppendonly && this.#isDurable === false;
  }

  /** How much longer a new store accepts no orders. */
  get youngMs(): number {
    return this.#seen?.youngMs ?? 0;
  }

  /** Reads the state of the store, independently of orders. */
  async look(): Promise<void> {
    this.#cancelLook();
    const { isInspection, clock } = this.#options;
    try {
      const formerLoss = this.store.loss;
      const seen = await this.store.run(LOOK, {});
      this.#warnAbout(seen, formerLoss);
      this.#seen = seen;
      this.#isDurable = seen.isDurable;
      this.#failure = null;
      fireAndForget('redis', this.#releaseAll());
    } catch (error) {
      if (error instanceof RecordsAbsentError) {
        this.#isDurable = error.isDurable;
        this.#failure = null;
      } else this.#failure = reasonOf(error);
    }
    if (this.#isClosed || isInspection) return;
    // Another look may have been scheduled in the meantime.
    this.#cancelLook();
    this.#cancelLook = clock.after(LOOK_MS, () => fireAndForget('redis', this.look()));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook();
    this.redis.close();
    this.#writer.close();
  }

  #warnAbout({ isNew, isIncomplete, eviction }: StoreLook, formerLoss: string | undefined): void {
    const { onWarn } = this.#options;
    const { marker, loss } = this.store;
    // A loss has a separate warning.
    if (isNew && !isIncomplete) onWarn(`${marker} in Redis ${IS_NEW}`);
    if (loss !== formerLoss && isIncomplete) {
      onWarn('Redis may lack orders: it was emptied or restarted, or it is another Redis');
    }
    if (eviction !== undefined && eviction !== this.#seen?.eviction) {
      onWarn(`Redis has maxmemory-policy ${eviction}: it may drop order records; set noeviction`);
    }
  }

  #degradedReason(): string | null {
    const failure = this.#failure ?? this.#seen?.refusal ?? null;
    if (failure !== null) return `the order records in Redis: ${failure}`;
    if (this.#seen === null) return null;
    const { records, hasRejected, isUndecided, isRenamed } = this.#seen;
    if (isRenamed) return RENAMED;
    if (isUndecided) return UNDECIDED;
    if (this.isForgetful) return FORGETFUL;
    return records >= this.#options.max && !hasRejected ? FULL : null;
  }

  async #releaseAll(): Promise<void> {
    // While Redis is slow, the next look must not queue the same releases again.
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    const released = [...this.#toRelease].map(async (reservation) => {
      await this.release(reservation);
      this.#toRelease.delete(reservation);
    });
    await Promise.allSettled(released);
    this.#isReleasing = false;
  }

  /** Returns the record of an answer; throws if the answer is a refusal. */
  #recordIn(answer: FoundRecord | Refusal): OrderRecord {
    switch (answer.kind) {
      case 'record':
        return recordOf(answer);
      case 'fullAccount':
      case 'fullOfUnsent':
        throw new AccountRecordsFullError(this.#options, answer.kind === 'fullOfUnsent');
      case 'full':
        throw storeFull();
      case 'incomplete':
        throw new RecordsGapError(answer.untilMs ?? null);
      case 'forgotten':
        throw new RecordsForgottenError();
      case 'tooFewReplicas': {
        const message = missingReplicas(answer.have, answer.wanted) ?? undefined;
        throw new RecordsUnavailableError(message, { earlierUnknown: false });
      }
      default:
        throw new RecordsUnavailableError(REFUSALS[answer.kind]);
    }
  }
}

function valuesOf({ account, key, id, ...order }: Reservation) {
  return {
    name: recordId(account, key),
    id,
    digest: order.inputDigest,
    reservedAtMs: order.reservedAtMs,
    pendingMs: order.pendingMs,
    asked: JSON.stringify(order.asked ?? null),
    isUnsent: isNeverSentId(id),
  };
}
