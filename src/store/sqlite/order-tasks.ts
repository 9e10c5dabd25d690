import type { Account } from '../../lib/account.ts';
import { gapEndOf, gapReason, isMadeAfterGap, KEY_AHEAD_MS, lossEndOf } from '../order-gap.ts';
import {
  AccountRecordsFullError,
  CUT_OFF_GRACE_MS,
  type CutOffOrder,
  closedOutcome,
  HELD,
  isUnknown,
  KEY_LIFE_MS,
  NO_TIMES,
  type OrderKey,
  type OrderRecord,
  type OrderTimes,
  RENAMED,
  type RecordedOutcome,
  RecordsForgottenError,
  RecordsGapError,
  type RecordsStatus,
  RecordsUnavailableError,
  type Reservation,
  rank,
  storeFull,
  toOrderRecord,
} from '../order-records.ts';
import { isNeverSentId, type RecordBounds, recordQuota } from '../record-shares.ts';
import type { OrderFile } from './order-file.ts';
import { NEVER_SENT, OrderTable, type Row } from './order-table.ts';

/** The state of a file as of its last transaction. */
export function statusOf(
  file: OrderFile,
  { degradedReason, unsettled }: Pick<RecordsStatus, 'degradedReason' | 'unsettled'>,
): RecordsStatus {
  const { records, held, lossUntil } = file.state;
  return {
    count: records,
    unsettled,
    degradedReason,
    gapReason: isIncomplete(file) ? gapReason('the order records', lossUntil) : null,
    holdReason: held === 1 ? HELD : null,
  };
}

/** Whether records may be missing. */
function isIncomplete({ state, dates }: OrderFile): boolean {
  const { lostAt, lossUntil } = state;
  if (lostAt === null) return false;
  return dates.earlierMs === null || dates.earlierMs < lossEndOf(lostAt, lossUntil);
}

/** The rules of the order records, applied to the tables of a file. Each method runs within a transaction of the file. */
export class OrderTasks {
  readonly #file: OrderFile;
  readonly #bounds: RecordBounds;
  readonly #table: OrderTable;

  constructor(file: OrderFile, bounds: RecordBounds) {
    this.#file = file;
    this.#bounds = bounds;
    this.#table = new OrderTable(file);
  }

  /** Reserves the key, and returns null. If the key was used before, returns its record. */
  reserve(reservation: Reservation, keyMadeMs: number | null): OrderRecord | null {
    const found = this.#findOrThrow(reservation, keyMadeMs);
    if (found !== null) return found;
    if (keyMadeMs !== null && this.#isForgotten(reservation.account, keyMadeMs)) {
      throw new RecordsForgottenError();
    }
    this.#insert(reservation, null);
    const { state, dates } = this.#file;
    this.#file.update({ apart: Math.max(state.apart, dates.differMs ?? 0) });
    return null;
  }

  settle(
    reservation: Reservation,
    outcome: RecordedOutcome,
    times: OrderTimes = NO_TIMES,
  ): RecordedOutcome | null {
    const { account, key, id } = reservation;
    const found = this.#table.find(account, key);
    // If the record was lost, this process still knows the outcome and writes the record again.
    if (found === null && isIncomplete(this.#file)) {
      this.#table.insert(reservation, outcome, times);
    }
    if (found?.id !== id) return null;
    const present = this.#table.recordOf(found).outcome;
    if (rank(outcome) <= rank(present)) return present;
    this.#table.setOutcome(found, outcome, times);
    return null;
  }

  release({ account, key, id }: Reservation): void {
    const found = this.#table.find(account, key);
    // After the deadline the record is kept, because clients may have read that the outcome is unknown.
    if (found?.id === id && this.#table.recordOf(found).pendingMs > 0) this.#table.drop(found);
  }

  find(orderKey: OrderKey): OrderRecord | null {
    return this.#findOrThrow(orderKey, null);
  }

  /** Does nothing. Its batch returns the state of the store, as each batch does. */
  check(): null {
    return null;
  }

  /** Closes a key even if the file may have forgotten its order. The outcome states how far back the records reach. */
  voidKey(reservation: Reservation, keyAgeMs: number | null): OrderRecord {
    const found = this.#presentRecord(reservation);
    if (found !== null) return found;
    const outcome = closedOutcome(keyAgeMs, this.#rememberedMs(reservation));
    this.#insert(reservation, outcome);
    return toOrderRecord(reservation, outcome, 0);
  }

  cutOff(): readonly CutOffOrder[] {
    const { nowMs } = this.#file.dates;
    return this.#table.overdueAt(nowMs - CUT_OFF_GRACE_MS).map((row) => {
      const { account, key, reserved: reservedAtMs } = row;
      const outcome = { kind: 'unknown', sentAtMs: reservedAtMs, message: null } as const;
      this.#table.setOutcome(row, outcome, NO_TIMES);
      return { account, key, reservedAtMs };
    });
  }

  /** Runs before a batch. Decides the end of a gap once the gateway's clock is known, and removes expired records. */
  advance(): void {
    const { lostAt, lossUntil, apart } = this.#file.state;
    if (lostAt !== null && lossUntil === null) {
      const untilMs = gapEndOf(this.#file.dates, apart);
      if (untilMs !== null) this.#file.update({ lossUntil: untilMs });
    }
    this.#table.removeExpired();
  }

  unsettled(): number {
    return this.#table.unsettled();
  }

  isFull(): boolean {
    return this.#table.isFull(this.#bounds.max);
  }

  /** Whether the accounts of the records have other names than this process gives them. */
  isRenamed(): boolean {
    const { accounts } = this.#bounds;
    const { accounts: namedBy, records } = this.#file.state;
    if (accounts === undefined || namedBy === null || records === 0) return false;
    return namedBy !== accounts;
  }

  /** The record of a key as clients read it. */
  #presentRecord({ account, key }: OrderKey): OrderRecord | null {
    // An account's orders cannot be found under a different name of the account.
    if (this.isRenamed()) throw new RecordsUnavailableError(RENAMED);
    const row = this.#table.find(account, key);
    if (row === null) return null;
    const record = this.#table.recordOf(row);
    const isOverdue = record.outcome === null && isUnknown(record);
    if (isOverdue && row.overdueRead === 0) this.#table.setOverdue(row);
    return record;
  }

  /** Throws if the record of the key may be missing. */
  #findOrThrow(orderKey: OrderKey, keyMadeMs: number | null): OrderRecord | null {
    const found = this.#presentRecord(orderKey);
    if (found !== null) return found;
    const { lossUntil } = this.#file.state;
    if (!isIncomplete(this.#file) || isMadeAfterGap(keyMadeMs, lossUntil)) return null;
    throw new RecordsGapError(lossUntil);
  }

  /** Whether the file may have had a record of the key that it no longer has. */
  #isForgotten(account: Account, keyMadeMs: number): boolean {
    const { state, dates } = this.#file;
    const keyAgeMs = dates.judgedMs - keyMadeMs;
    if (keyAgeMs > Math.min(dates.nowMs - state.since, KEY_LIFE_MS)) return true;
    return keyMadeMs <= this.#table.removedAt(account);
  }

  /** How far back from the client's request the file has every key of the account; 0 while a gap has no decided end. */
  #rememberedMs({ account, reservedAtMs }: Reservation): number {
    const { since, lossUntil } = this.#file.state;
    const { nowMs, judgedMs } = this.#file.dates;
    const knownMs = isIncomplete(this.#file)
      ? judgedMs - (lossUntil ?? judgedMs) - KEY_AHEAD_MS
      : nowMs - since;
    const sinceRemovalMs = judgedMs - this.#table.removedAt(account);
    const waitedMs = Math.max(0, judgedMs - reservedAtMs);
    return Math.max(0, Math.min(knownMs, sinceRemovalMs) - waitedMs);
  }

  /** Throws if there is no room for another record. */
  #insert(reservation: Reservation, outcome: RecordedOutcome | null): void {
    this.#makeRoom(reservation);
    this.#table.insert(reservation, outcome, NO_TIMES);
    const { accounts } = this.#bounds;
    if (accounts !== undefined) this.#file.update({ accounts });
  }

  #makeRoom({ account, id }: Reservation): void {
    const unsentQuota = recordQuota(this.#bounds, true);
    if (isNeverSentId(id) && this.#table.count(account, NEVER_SENT) >= unsentQuota) {
      throw new AccountRecordsFullError(this.#bounds, true);
    }
    if (this.#table.count(account) >= recordQuota(this.#bounds, false)) {
      const oldest = this.#table.oldestRejected(account);
      if (oldest === null) throw new AccountRecordsFullError(this.#bounds, false);
      this.#removeForRoom(oldest);
    }
    if (this.#file.state.records < this.#bounds.max) return;
    const oldest = this.#table.oldestRejected(null);
    if (oldest === null) throw storeFull();
    this.#removeForRoom(oldest);
  }

  /** Removes a rejected order: its repeat would not trade twice. A repeat with a `keyMade` is refused by this date. */
  #removeForRoom(row: Row): void {
    this.#table.drop(row);
    this.#table.setRemoved(row.account, this.#file.dates.judgedMs);
  }
}
