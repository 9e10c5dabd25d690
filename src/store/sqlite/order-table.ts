import type { Account } from '../../lib/account.ts';
import {
  isGatewayRejection,
  type OrderRecord,
  type OrderTimes,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  type Reservation,
  rank,
  toOrderRecord,
  UNKNOWN_LIFE_MS,
} from '../order-records.ts';
import { isNeverSentId } from '../record-shares.ts';
import type { OrderFile, SqlValue } from './order-file.ts';

/** The classes by which records are counted. Records of rejected orders can be removed to make room. */
const SENT = 0;
export const NEVER_SENT = 1;
const REJECTED = 2;
const UNKNOWN = 3;
const CLASSES = [SENT, NEVER_SENT, REJECTED, UNKNOWN] as const;
type Class = (typeof CLASSES)[number];

export interface Row {
  readonly n: number;
  readonly account: Account;
  readonly key: string;
  readonly id: string;
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

/** The tables of an order file. Each method runs within a transaction of the file, and uses its dates. */
export class OrderTable {
  readonly #file: OrderFile;

  constructor(file: OrderFile) {
    this.#file = file;
  }

  /** Null if the key has no record, or an expired one. */
  find(account: Account, key: string): Row | null {
    const sql = 'SELECT * FROM orders WHERE account = ? AND key = ?';
    const found = this.#file.get<Row>(sql, account, key);
    return found !== null && !this.#hasExpired(found) ? found : null;
  }

  recordOf(row: Row): OrderRecord {
    const { id, digest: inputDigest, reserved: reservedAtMs, pendingUntil, sent, answered } = row;
    const order = { id, inputDigest, reservedAtMs, asked: JSON.parse(row.asked ?? 'null') };
    const leftMs = row.overdueRead === 1 ? 0 : pendingUntil - this.#file.dates.nowMs;
    const times = { sentAtMs: sent, answeredAtMs: answered };
    return toOrderRecord(order, JSON.parse(row.outcome ?? 'null'), leftMs, times);
  }

  insert(order: Reservation, outcome: RecordedOutcome | null, times: OrderTimes): void {
    const { account, key, id, inputDigest, reservedAtMs, pendingMs, asked = null } = order;
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
      classOf(id, outcome),
      laterMs + lifeOf(outcome),
      asked && JSON.stringify(asked),
      outcome && JSON.stringify(outcome),
      times.sentAtMs,
      times.answeredAtMs,
    );
    this.#file.update({ records: this.#file.state.records + 1 });
  }

  setOutcome({ n, id }: Row, outcome: RecordedOutcome, times: OrderTimes): void {
    const sql = `UPDATE orders SET outcome = ?, ends = ?, class = ?, sent = coalesce(?, sent), answered = coalesce(?, answered)
      WHERE n = ?`;
    const ends = this.#file.dates.laterMs + lifeOf(outcome);
    const { sentAtMs, answeredAtMs } = times;
    const recordClass = classOf(id, outcome);
    this.#file.run(sql, JSON.stringify(outcome), ends, recordClass, sentAtMs, answeredAtMs, n);
  }

  /** Notes that a client reads the order as overdue. The order stays overdue, even if the clock is set back. */
  setOverdue({ n }: Row): void {
    this.#file.run('UPDATE orders SET overdueRead = 1 WHERE n = ?', n);
  }

  drop({ n }: Row): void {
    this.#remove('DELETE FROM orders WHERE n = ?', n);
  }

  /** The number of records of an account, of one class or of all. */
  count(account: Account, recordClass: Class | null = null): number {
    const sql =
      'SELECT count(*) AS figure FROM orders WHERE account = ? AND class = coalesce(?, class)';
    return this.#figure(sql, account, recordClass);
  }

  /** How many orders are unknown. */
  unsettled(): number {
    const sql = `SELECT count(*) AS figure FROM
      (SELECT 1 FROM orders WHERE class = ? AND outcome IS NOT NULL LIMIT ?)`;
    return this.#figure(sql, UNKNOWN, MAX_COUNTED);
  }

  /** Whether there is no room for a new order. */
  isFull(max: number): boolean {
    return this.#file.state.records >= max && this.oldestRejected(null) === null;
  }

  /** The oldest order that the gateway rejected, of an account or of all. */
  oldestRejected(account: Account | null): Row | null {
    const inAll =
      'SELECT * FROM orders WHERE class = ? AND outcome IS NOT NULL ORDER BY ends LIMIT 1';
    if (account === null) return this.#file.get(inAll, REJECTED);
    const sql = 'SELECT * FROM orders WHERE account = ? AND class = ? ORDER BY n LIMIT 1';
    return this.#file.get(sql, account, REJECTED);
  }

  /** Orders without an outcome whose deadline was at `ms` or earlier; one page of them. */
  overdueAt(ms: number): readonly Row[] {
    const sql = 'SELECT * FROM orders WHERE outcome IS NULL AND pendingUntil <= ? LIMIT ?';
    return this.#file.all(sql, ms, ROWS_AT_ONCE);
  }

  /** A page of rows after a row number, of one account or of all. */
  rows(account: Account | null, after: number): readonly Row[] {
    const sql =
      'SELECT * FROM orders WHERE n > ? AND account = coalesce(?, account) ORDER BY n LIMIT ?';
    return this.#file.all<Row>(sql, after, account, ROWS_AT_ONCE);
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

  /** When the latest record of the account was removed to make room; 0 if none was. */
  removedAt(account: Account): number {
    return this.#figure('SELECT at AS figure FROM removals WHERE account = ?', account);
  }

  setRemoved(account: Account, atMs: number): void {
    const sql = 'INSERT OR REPLACE INTO removals (account, at) VALUES (?, ?)';
    this.#file.run(sql, account, Math.max(this.removedAt(account), atMs));
  }

  #hasExpired({ ends, outcome }: Row): boolean {
    const { earlierMs } = this.#file.dates;
    return earlierMs !== null && outcome !== null && ends <= earlierMs;
  }

  #remove(sql: string, ...values: SqlValue[]): void {
    const removed = this.#file.run(sql, ...values);
    if (removed > 0) this.#file.update({ records: this.#file.state.records - removed });
  }

  #figure(sql: string, ...values: SqlValue[]): number {
    return this.#file.get<{ readonly figure: number }>(sql, ...values)?.figure ?? 0;
  }
}

function classOf(id: string, outcome: RecordedOutcome | null): Class {
  if (isNeverSentId(id)) return NEVER_SENT;
  if (rank(outcome) === 1) return UNKNOWN;
  return isGatewayRejection(outcome) ? REJECTED : SENT;
}

/** How long a record lives after its outcome was written. */
function lifeOf(outcome: RecordedOutcome | null): number {
  const isKnown = rank(outcome) === 2;
  return isKnown ? RECORD_LIFE_MS : UNKNOWN_LIFE_MS;
}
