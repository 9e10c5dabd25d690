import type { Account } from '../../lib/account.ts';
import { isCovered, type KeyFault, keyFault } from '../key-rule.ts';
import { keyTimeOf } from '../order-key.ts';
import {
  CLOSED,
  CUT_OFF_GRACE_MS,
  type CutOffOrder,
  isClosed,
  isGatewayRejection,
  isUnknown,
  NO_TIMES,
  type OrderKey,
  type OrderRecord,
  type OrderTimes,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  type Reservation,
  rank,
  toOrderRecord,
  UNKNOWN_LIFE_MS,
} from '../order-records.ts';
import { type RecordBounds, recordQuota } from '../record-shares.ts';
import type { Refusal } from '../refusals.ts';
import {
  knownAnswer,
  LATE_ANSWER_MS,
  type SettleAnswer,
  type SettleRequest,
  type StoredOrder,
} from '../settlement.ts';
import type { OrderFile, SqlValue } from './order-file.ts';

/** The classes by which records are counted. Records of rejected orders can be removed to make room. */
const SENT = 0;
const NEVER_SENT = 1;
const REJECTED = 2;
const UNKNOWN = 3;
const CLASSES = [SENT, NEVER_SENT, REJECTED, UNKNOWN] as const;
type Class = (typeof CLASSES)[number];

interface Row {
  readonly n: number;
  readonly account: Account;
  readonly key: string;
  readonly id: string;
  readonly class: Class;
  readonly digest: string;
  readonly reserved: number;
  readonly pendingUntil: number;
  readonly ends: number;
  readonly overdueRead: 0 | 1;
  readonly asked: string | null;
  readonly outcome: string | null;
  readonly sent: number | null;
  readonly answered: number | null;
}

/** More records than one batch of MAX_BATCH tasks adds, so that the removal of expired records keeps up. */
const REMOVED_AT_ONCE = 400;
const ROWS_AT_ONCE = 500;
/** Each batch counts the unknown orders, so the count has an end. */
const MAX_COUNTED = 10_000;

/** Ends a task with a refusal as its answer. What the task has written stays. */
export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(kind: Exclude<Refusal['kind'], 'unusable'>) {
    super(kind);
    this.refusal = { kind };
  }
}

/** The order records in the tables of a file, and their rules. Each method runs within a transaction of the file, and uses its dates. */
export class OrderTable {
  readonly #file: OrderFile;
  readonly #bounds: RecordBounds;

  constructor(file: OrderFile, bounds: RecordBounds) {
    this.#file = file;
    this.#bounds = bounds;
  }

  /** Adds a record without an outcome, and returns null. If the key was used before, returns its record. */
  add(reservation: Reservation): OrderRecord | null {
    const found = this.find(reservation);
    if (found === null) this.#addInRoom(reservation, null);
    return found;
  }

  settle(
    reservation: Reservation,
    outcome: RecordedOutcome,
    times: OrderTimes = NO_TIMES,
  ): RecordedOutcome | null {
    const found = this.#rowOf(reservation);
    // If a loss took the record, this process still knows the outcome and writes the record again.
    if (found === null && !this.#isCovered(reservation)) this.#insert(reservation, outcome, times);
    if (found?.id !== reservation.id) return null;
    const present = this.#recordOf(found).outcome;
    if (rank(outcome) <= rank(present)) return present;
    this.#setOutcome(found, outcome, times);
    return null;
  }

  release(reservation: Reservation): void {
    const found = this.#rowOf(reservation);
    // After the deadline the record is kept, because clients may have read that the outcome is unknown.
    if (found?.id === reservation.id && this.#recordOf(found).pendingMs > 0) this.#drop(found);
  }

  /** Refuses a key that has no record, and that an order may have used. */
  find(order: OrderKey): OrderRecord | null {
    const found = this.#presentRecord(order);
    if (found !== null) return found;
    const fault = this.#faultOf(order);
    if (fault !== null) throw new RefusedError(fault);
    return null;
  }

  /** Does nothing. Its batch returns the state of the store, as each batch does. */
  check(): null {
    return null;
  }

  /** Closes a key even if the file may have forgotten its order; then it is refused afterwards. */
  voidKey(reservation: Reservation): OrderRecord {
    const found = this.#presentRecord(reservation);
    if (found !== null) return found;
    const fault = this.#faultOf(reservation);
    if (fault !== null && fault !== 'old') throw new RefusedError(fault);
    this.#addInRoom(reservation, fault === null ? CLOSED : { ...CLOSED, isDoubtful: true });
    if (fault !== null) throw new RefusedError(fault);
    return toOrderRecord(reservation, CLOSED, 0);
  }

  cutOff(): readonly CutOffOrder[] {
    const sql = 'SELECT * FROM orders WHERE outcome IS NULL AND pendingUntil <= ? LIMIT ?';
    const overdueMs = this.#file.dates.nowMs - CUT_OFF_GRACE_MS;
    return this.#file.all<Row>(sql, overdueMs, ROWS_AT_ONCE).map((row) => {
      const { account, key, reserved: reservedAtMs } = row;
      const outcome = { kind: 'unknown', sentAtMs: reservedAtMs, message: null } as const;
      this.#setOutcome(row, outcome, NO_TIMES);
      return { account, key, reservedAtMs };
    });
  }

  removeExpired(): void {
    const { earlierMs } = this.#file.dates;
    if (earlierMs === null) return;
    const expired =
      'SELECT n FROM orders WHERE class = ? AND outcome IS NOT NULL AND ends <= ? ORDER BY ends LIMIT ?';
    for (const each of CLASSES) {
      this.#remove(`DELETE FROM orders WHERE n IN (${expired})`, each, earlierMs, REMOVED_AT_ONCE);
    }
    // Keys from before an older removal are refused by their age.
    this.#file.run('DELETE FROM removals WHERE at <= ?', earlierMs - RECORD_LIFE_MS);
  }

  /** How many orders are unknown. */
  unsettled(): number {
    const sql = `SELECT count(*) AS figure FROM
      (SELECT 1 FROM orders WHERE class = ? AND outcome IS NOT NULL LIMIT ?)`;
    return this.#figure(sql, UNKNOWN, MAX_COUNTED);
  }

  /** Whether there is no room for a new order. */
  isFull(): boolean {
    return this.#file.state.records >= this.#bounds.max && this.#oldestRejected() === null;
  }

  /** Whether the accounts of the records have other names than this process gives them. */
  isRenamed(): boolean {
    const { accounts } = this.#bounds;
    const { accounts: namedBy, records } = this.#file.state;
    if (accounts === undefined || namedBy === null || records === 0) return false;
    return namedBy !== accounts;
  }

  /** The record of a key for an operator, even if other records may be missing. */
  show(order: OrderKey): OrderRecord | null {
    const found = this.#rowOf(order);
    return found && this.#recordOf(found);
  }

  /** A page of orders after a row number, of one account or of all; null after the last. */
  list(account: Account | null, after: number) {
    const sql =
      'SELECT * FROM orders WHERE n > ? AND account = coalesce(?, account) ORDER BY n LIMIT ?';
    const rows = this.#file.all<Row>(sql, after, account, ROWS_AT_ONCE);
    const last = rows.at(-1);
    const orders = rows.map(
      (row): StoredOrder => ({ account: row.account, key: row.key, record: this.#recordOf(row) }),
    );
    return last ? { orders, last: last.n } : null;
  }

  /** Settles an unknown order for an operator. A known outcome is kept, also one that an operator has settled. */
  settleByHand({ outcome, ...order }: SettleRequest): SettleAnswer {
    const found = this.#rowOf(order);
    if (found === null) return { kind: 'none' };
    const present = this.#recordOf(found);
    if (rank(present.outcome) === 2) return knownAnswer(present, outcome);
    const leftMs = found.pendingUntil + LATE_ANSWER_MS - this.#file.dates.nowMs;
    if (leftMs > 0) return { kind: 'early', leftMs };
    this.#setOutcome(found, outcome, NO_TIMES);
    return { kind: 'settled', record: { ...present, outcome, pendingMs: 0 } };
  }

  /** The record of a key as clients read it. Refuses a closed key that an order may have used before. */
  #presentRecord(order: OrderKey): OrderRecord | null {
    if (this.isRenamed()) throw new RefusedError('renamed');
    const row = this.#rowOf(order);
    if (row === null) return null;
    const record = this.#recordOf(row);
    const { outcome } = record;
    const isDoubtful = outcome?.kind === 'rejected' && outcome.sent === false && outcome.isDoubtful;
    if (isClosed(record) && (isDoubtful || !this.#isCovered(order))) throw new RefusedError('old');
    // The order stays overdue for clients, even if the clock is set back.
    if (outcome === null && isUnknown(record) && row.overdueRead === 0) {
      this.#file.run('UPDATE orders SET overdueRead = 1 WHERE n = ?', row.n);
    }
    return record;
  }

  /** Why an order may have used a key without a record; null if none has. */
  #faultOf({ account, key }: OrderKey): KeyFault | null {
    const { state, dates } = this.#file;
    const memory = { sinceMs: state.since, removedAtMs: this.#removedAt(account) };
    return keyFault(keyTimeOf(key) ?? 0, memory, dates);
  }

  #isCovered({ key }: OrderKey): boolean {
    return isCovered(keyTimeOf(key) ?? 0, this.#file.state.since);
  }

  /** Refuses a record for which there is no room. */
  #addInRoom(reservation: Reservation, outcome: RecordedOutcome | null): void {
    this.#makeRoom(reservation);
    this.#file.noteJudged();
    this.#insert(reservation, outcome, NO_TIMES);
    const { accounts } = this.#bounds;
    if (accounts !== undefined) this.#file.update({ accounts });
  }

  #makeRoom({ account, isNeverSent }: Reservation): void {
    if (isNeverSent) {
      const unsent = this.#count(account, NEVER_SENT);
      if (unsent >= recordQuota(this.#bounds, true)) throw new RefusedError('fullOfUnsent');
    }
    if (this.#count(account) >= recordQuota(this.#bounds, false)) {
      this.#removeForRoom(this.#oldestRejected(account), 'fullAccount');
    }
    if (this.#file.state.records >= this.#bounds.max) {
      this.#removeForRoom(this.#oldestRejected(), 'full');
    }
  }

  /** Removes a rejected order: its repeat would not trade twice. Keys that were made until then are refused. */
  #removeForRoom(row: Row | null, refusal: 'full' | 'fullAccount'): void {
    if (row === null) throw new RefusedError(refusal);
    this.#drop(row);
    const { dates, state } = this.#file;
    const atMs = Math.max(this.#removedAt(row.account), dates.judgedMs, state.judged);
    const sql = 'INSERT OR REPLACE INTO removals (account, at) VALUES (?, ?)';
    this.#file.run(sql, row.account, atMs);
  }

  /** When the latest record of the account was removed to make room; 0 if none was. */
  #removedAt(account: Account): number {
    return this.#figure('SELECT at AS figure FROM removals WHERE account = ?', account);
  }

  /** The number of records of an account, of one class or of all. */
  #count(account: Account, recordClass: Class | null = null): number {
    const sql =
      'SELECT count(*) AS figure FROM orders WHERE account = ? AND class = coalesce(?, class)';
    return this.#figure(sql, account, recordClass);
  }

  /** The oldest order that the gateway rejected, of an account or of all. */
  #oldestRejected(account: Account | null = null): Row | null {
    const inAll =
      'SELECT * FROM orders WHERE class = ? AND outcome IS NOT NULL ORDER BY ends LIMIT 1';
    if (account === null) return this.#file.get(inAll, REJECTED);
    const sql = 'SELECT * FROM orders WHERE account = ? AND class = ? ORDER BY n LIMIT 1';
    return this.#file.get(sql, account, REJECTED);
  }

  /** Null if the key has no record, or an expired one. */
  #rowOf({ account, key }: OrderKey): Row | null {
    const sql = 'SELECT * FROM orders WHERE account = ? AND key = ?';
    const found = this.#file.get<Row>(sql, account, key);
    const { earlierMs } = this.#file.dates;
    if (found === null || found.outcome === null || earlierMs === null) return found;
    return found.ends > earlierMs ? found : null;
  }

  #recordOf(row: Row): OrderRecord {
    const { id, digest: inputDigest, reserved: reservedAtMs, pendingUntil, sent, answered } = row;
    const order = { id, inputDigest, reservedAtMs, asked: JSON.parse(row.asked ?? 'null') };
    const leftMs = row.overdueRead === 1 ? 0 : pendingUntil - this.#file.dates.nowMs;
    const times = { sentAtMs: sent, answeredAtMs: answered };
    return toOrderRecord(order, JSON.parse(row.outcome ?? 'null'), leftMs, times);
  }

  #insert(order: Reservation, outcome: RecordedOutcome | null, times: OrderTimes): void {
    const { account, key, id, inputDigest, reservedAtMs, pendingMs, isNeverSent, asked } = order;
    const { nowMs, laterMs } = this.#file.dates;
    // An expired record of the key may still be there.
    this.#remove('DELETE FROM orders WHERE account = ? AND key = ?', account, key);
    const sql = `INSERT INTO orders (account, key, id, digest, reserved, pendingUntil, class, ends, asked, outcome, sent, answered)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    this.#file.run(
      sql,
      account,
      key,
      id,
      inputDigest,
      reservedAtMs,
      nowMs + pendingMs,
      isNeverSent ? NEVER_SENT : classOf(outcome),
      laterMs + lifeOf(outcome),
      asked ? JSON.stringify(asked) : null,
      outcome && JSON.stringify(outcome),
      times.sentAtMs,
      times.answeredAtMs,
    );
    this.#file.update({ records: this.#file.state.records + 1 });
  }

  #setOutcome(row: Row, outcome: RecordedOutcome, times: OrderTimes): void {
    const sql = `UPDATE orders SET outcome = ?, ends = ?, class = ?, sent = coalesce(?, sent), answered = coalesce(?, answered)
      WHERE n = ?`;
    const ends = this.#file.dates.laterMs + lifeOf(outcome);
    const { sentAtMs, answeredAtMs } = times;
    const recordClass = row.class === NEVER_SENT ? NEVER_SENT : classOf(outcome);
    this.#file.run(sql, JSON.stringify(outcome), ends, recordClass, sentAtMs, answeredAtMs, row.n);
  }

  #drop({ n }: Row): void {
    this.#remove('DELETE FROM orders WHERE n = ?', n);
  }

  #remove(sql: string, ...values: SqlValue[]): void {
    const removed = this.#file.run(sql, ...values);
    if (removed > 0) this.#file.update({ records: this.#file.state.records - removed });
  }

  #figure(sql: string, ...values: SqlValue[]): number {
    return this.#file.get<{ readonly figure: number }>(sql, ...values)?.figure ?? 0;
  }
}

function classOf(outcome: RecordedOutcome | null): Class {
  if (rank(outcome) === 1) return UNKNOWN;
  return isGatewayRejection(outcome) ? REJECTED : SENT;
}

/** How long a record lives after its outcome was written. */
function lifeOf(outcome: RecordedOutcome | null): number {
  return rank(outcome) === 2 ? RECORD_LIFE_MS : UNKNOWN_LIFE_MS;
}
