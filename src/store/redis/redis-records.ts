import type { Account } from '../../lib/account.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { inTime } from '../in-time.ts';
import { clockReason } from '../key-rule.ts';
import { keyTimeOf } from '../order-key.ts';
import {
  CLOSED,
  type CutOffOrder,
  closedReservation,
  HELD,
  isClosed,
  isGatewayRejection,
  mayHaveChanged,
  type OrderKey,
  type OrderRecord,
  type OrderRecords,
  type RecordedOutcome,
  type RecordsStatus,
  type Reservation,
  type ReserveAnswer,
  type ReserveRequest,
  rank,
  recordId,
  toReservation,
  type VoidAnswer,
} from '../order-records.ts';
import { FULL, RENAMED, RecordsUnavailableError, type Refusal, refusalError } from '../refusals.ts';
import { isSettled } from '../settlement.ts';
import { StoreError } from '../store-error.ts';
import { type FoundRecord, keyOfRecord, recordOf } from './answers.ts';
import {
  connectRedis,
  type RedisConnection,
  RedisRefusedError,
  RedisSilentError,
} from './connection.ts';
import { CUT_OFF, FIND, RELEASE, RESERVE, SETTLE, VOID } from './order-scripts.ts';
import {
  ForeignVersionError,
  NotCopiedError,
  OrderStore,
  RecordsAbsentError,
  type RedisOrderRecordsOptions,
} from './order-store.ts';
import { RedisHealth } from './redis-health.ts';
import { FORGETFUL } from './script-head.ts';
import { LOOK, type StoreLook } from './store-look.ts';

/** The time between two looks at the store. */
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
  const failure = await records.look();
  if (!(failure instanceof ForeignVersionError)) return records;
  await records.close();
  throw new StoreError(failure.message);
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
    const { account, key } = request;
    try {
      const answer = await this.store.write(RESERVE, valuesOf(reservation));
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
  ): Promise<RecordedOutcome | null> {
    const answer = await this.store.write(SETTLE, {
      ...valuesOf(reservation),
      rank: rank(outcome),
      outcome: JSON.stringify(outcome),
      hasChanged: mayHaveChanged(outcome),
      isRejected: isGatewayRejection(outcome),
      isByHand: isSettled(outcome),
    });
    switch (answer.kind) {
      case 'kept':
        return JSON.parse(answer.outcome);
      case 'written':
      case 'foreign':
        return null;
      default:
        throw this.#errorOf(answer);
    }
  }

  async release(reservation: Reservation): Promise<void> {
    await this.store.write(RELEASE, valuesOf(reservation));
  }

  async find(account: Account, key: string): Promise<OrderRecord | null> {
    const values = { name: recordId(account, key), madeMs: keyTimeOf(key) ?? 0 };
    const found = await this.store.run(FIND, values);
    const isRefusal = found.kind !== 'none' && found.kind !== 'record';
    if (isRefusal || (found.kind === 'record' && !isClosed(recordOf(found)))) {
      return this.#recordIn(found);
    }
    // An order's record counts at once, anything else only once enough replicas of Redis agree.
    const agreed = await inTime(this.#options.clock, this.store.write(FIND, values));
    return agreed.kind === 'none' ? null : this.#recordIn(agreed);
  }

  async voidKey(key: OrderKey): Promise<VoidAnswer> {
    const { clock, dates } = this.#options;
    const reservation = closedReservation(key, dates().laterMs);
    const values = { ...valuesOf(reservation), outcome: JSON.stringify(CLOSED) };
    const answer = await inTime(clock, this.store.write(VOID, values));
    const record = this.#recordIn(answer);
    return { voided: record.id === reservation.id, record };
  }

  async cutOff(): Promise<readonly CutOffOrder[]> {
    const { orders = [] } = await this.store.run(CUT_OFF, {});
    return orders.map(({ id, at }) => ({ ...keyOfRecord(id), reservedAtMs: Number(at) }));
  }

  get status(): RecordsStatus {
    const { records: count = 0, unsettled = 0, isHeld = false, sinceMs = null } = this.#seen ?? {};
    return {
      count,
      unsettled,
      degradedReason: this.#degradedReason(),
      sinceMs,
      losses: this.store.losses,
      holdReason: isHeld ? HELD : null,
    };
  }

  /** Why orders are not sent for lack of replicas of Redis; null if there are enough. */
  copiesReason(): string | null {
    const late = this.store.isLate ? 'replicas of Redis answer too late' : null;
    return this.#seen?.missing ?? late;
  }

  /** Whether a restart of Redis would lose orders, although the settings do not accept that. */
  get isForgetful(): boolean {
    return this.#options.requiresAppendonly && this.#isDurable === false;
  }

  /** Reads the state of the store, independently of orders. Returns why that failed; null if it did not. */
  async look(): Promise<unknown> {
    this.#cancelLook();
    const { isInspection, clock } = this.#options;
    let failure: unknown = null;
    try {
      let seen = await this.store.run(LOOK, {});
      // A loss that enough replicas of Redis have can be given an end. Without them, WAIT would only delay orders.
      const isEndless = seen.sinceMs === undefined && !this.store.isLossConfirmed;
      if (isEndless && !isInspection && seen.missing === undefined) {
        await this.store.write(LOOK, {}).catch(() => {});
        seen = await this.store.run(LOOK, {});
      }
      const { eviction } = seen;
      if (eviction !== undefined && eviction !== this.#seen?.eviction) {
        const { onWarn } = this.#options;
        onWarn(`Redis has maxmemory-policy ${eviction}: it may drop order records; set noeviction`);
      }
      this.#seen = seen;
      this.#isDurable = seen.isDurable;
      this.#failure = null;
      fireAndForget('redis', this.#releaseAll());
    } catch (error) {
      failure = error;
      if (error instanceof RecordsAbsentError) {
        this.#isDurable = error.isDurable;
        this.#failure = null;
      } else {
        const reason = reasonOf(error);
        // At the start it is thrown. A Redis that fails is logged by its connections.
        const isNews = this.#seen !== null && reason !== this.#failure;
        if (isNews && error instanceof ForeignVersionError) this.#options.onWarn(reason);
        this.#failure = reason;
      }
    }
    if (this.#isClosed || isInspection) return failure;
    // Another look may have been scheduled in the meantime.
    this.#cancelLook();
    this.#cancelLook = clock.after(LOOK_MS, () => fireAndForget('redis', this.look()));
    return failure;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook();
    this.redis.close();
    this.#writer.close();
  }

  #degradedReason(): string | null {
    const failure = this.#failure ?? this.#seen?.refusal ?? null;
    if (failure !== null) return `the order records in Redis: ${failure}`;
    if (this.#seen === null) return null;
    const { records, hasRejected, isRenamed } = this.#seen;
    if (isRenamed) return RENAMED;
    const reason = clockReason(this.#seen.sinceMs ?? null, this.#options.dates());
    if (reason !== null) return reason;
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
    if (answer.kind === 'record') return recordOf(answer);
    throw this.#errorOf(answer);
  }

  #errorOf(refusal: Refusal): RecordsUnavailableError {
    return refusalError(refusal, this.#options, this.#options.dates());
  }
}

function valuesOf({ account, key, id, ...order }: Reservation) {
  return {
    name: recordId(account, key),
    madeMs: keyTimeOf(key) ?? 0,
    id,
    digest: order.inputDigest,
    reservedAtMs: order.reservedAtMs,
    pendingMs: order.pendingMs,
    asked: JSON.stringify(order.asked ?? null),
    isUnsent: order.isNeverSent,
  };
}
