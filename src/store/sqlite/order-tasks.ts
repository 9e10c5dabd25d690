import { isCovered, type KeyFault, keyFault } from '../key-rule.ts';
import { keyTimeOf } from '../order-key.ts';
import {
  AccountRecordsFullError,
  CLOSED,
  CUT_OFF_GRACE_MS,
  type CutOffOrder,
  HELD,
  isClosed,
  isUnknown,
  KeyTooOldError,
  keyError,
  NO_TIMES,
  type OrderKey,
  type OrderRecord,
  type OrderTimes,
  RENAMED,
  type RecordedOutcome,
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
  const { records, held, since: sinceMs } = file.state;
  return {
    count: records,
    unsettled,
    degradedReason,
    sinceMs,
    losses: file.losses,
    holdReason: held === 1 ? HELD : null,
  };
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
  reserve(reservation: Reservation): OrderRecord | null {
    const found = this.find(reservation);
    if (found === null) this.#insert(reservation, null);
    return found;
  }

  settle(
    reservation: Reservation,
    outcome: RecordedOutcome,
    times: OrderTimes = NO_TIMES,
  ): RecordedOutcome | null {
    const { account, key, id } = reservation;
    const found = this.#table.find(account, key);
    // If a loss took the record, this process still knows the outcome and writes the record again.
    if (found === null && !this.#isCovered(key)) {
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

  /** Throws if the key has no record, and an order may have used it. */
  find(orderKey: OrderKey): OrderRecord | null {
    const found = this.#presentRecord(orderKey);
    if (found !== null) return found;
    const fault = this.#faultOf(orderKey);
    if (fault !== null) throw keyError(fault, this.#file.dates);
    return null;
  }

  /** Does nothing. Its batch returns the state of the store, as each batch does. */
  check(): null {
    return null;
  }

  /** Closes a key even if the file may have forgotten its order; then it throws afterwards. */
  voidKey(reservation: Reservation): OrderRecord {
    const found = this.#presentRecord(reservation);
    if (found !== null) return found;
    const { dates } = this.#file;
    const fault = this.#faultOf(reservation);
    if (fault !== null && fault !== 'old') throw keyError(fault, dates);
    this.#insert(reservation, fault === null ? CLOSED : { ...CLOSED, isDoubtful: true });
    if (fault !== null) throw keyError(fault, dates);
    return toOrderRecord(reservation, CLOSED, 0);
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

  removeExpired(): void {
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

  /** The record of a key as clients read it. Throws if the key is closed, and an order may have used it before. */
  #presentRecord({ account, key }: OrderKey): OrderRecord | null {
    // An account's orders cannot be found under a different name of the account.
    if (this.isRenamed()) throw new RecordsUnavailableError(RENAMED);
    const row = this.#table.find(account, key);
    if (row === null) return null;
    const record = this.#table.recordOf(row);
    const { outcome } = record;
    const isDoubtful = outcome?.kind === 'rejected' && outcome.sent === false && outcome.isDoubtful;
    if (isClosed(record) && (isDoubtful || !this.#isCovered(key))) throw new KeyTooOldError();
    const isOverdue = record.outcome === null && isUnknown(record);
    if (isOverdue && row.overdueRead === 0) this.#table.setOverdue(row);
    return record;
  }

  /** Why an order may have used a key without a record; null if none has. */
  #faultOf({ account, key }: OrderKey): KeyFault | null {
    const { state, dates } = this.#file;
    const memory = { sinceMs: state.since, removedAtMs: this.#table.removedAt(account) };
    return keyFault(keyTimeOf(key) ?? 0, memory, dates);
  }

  #isCovered(key: string): boolean {
    return isCovered(keyTimeOf(key) ?? 0, this.#file.state.since);
  }

  /** Throws if there is no room for another record. */
  #insert(reservation: Reservation, outcome: RecordedOutcome | null): void {
    this.#makeRoom(reservation);
    this.#file.noteJudged();
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

  /** Removes a rejected order: its repeat would not trade twice. Keys that were made until then are refused. */
  #removeForRoom(row: Row): void {
    this.#table.drop(row);
    const { dates, state } = this.#file;
    this.#table.setRemoved(row.account, Math.max(dates.judgedMs, state.judged));
  }
}
