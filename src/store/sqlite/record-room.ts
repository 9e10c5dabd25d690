import type { Account } from '../../lib/account.ts';
import { RECORD_LIFE_MS, type Reservation } from '../order-records.ts';
import { type RecordBounds, recordQuota } from '../record-shares.ts';
import { RefusedError } from '../refusals.ts';
import type { OrderFile, SqlValue } from './order-file.ts';

/** The classes by which records are counted. Records of rejected orders can be removed to make room. */
export const SENT = 0;
export const NEVER_SENT = 1;
export const REJECTED = 2;
export const UNKNOWN = 3;
const CLASSES = [SENT, NEVER_SENT, REJECTED, UNKNOWN] as const;
export type RecordClass = (typeof CLASSES)[number];

/** A record that can be removed. */
interface Removable {
  readonly n: number;
  readonly account: Account;
}

/** More records than one batch of MAX_BATCH tasks adds, so that the removal of expired records keeps up. */
const REMOVED_AT_ONCE = 400;

/** The room for records in a file: how many there may be, and which are removed. Each method runs within a transaction of the file. */
export class RecordRoom {
  readonly #file: OrderFile;
  readonly #bounds: RecordBounds;

  constructor(file: OrderFile, bounds: RecordBounds) {
    this.#file = file;
    this.#bounds = bounds;
  }

  /** Whether there is no room for a new order. */
  isFull(): boolean {
    return this.#file.state.records >= this.#bounds.max && this.#oldestRejected() === null;
  }

  /** Makes room for a record; refuses it if there is none. */
  make({ account, isNeverSent }: Reservation): void {
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

  /** When the latest record of the account was removed to make room; 0 if none was. */
  removedAt(account: Account): number {
    return this.#file.figure('SELECT at AS figure FROM removals WHERE account = ?', account);
  }

  removeExpired(): void {
    const { earlierMs } = this.#file.dates;
    if (earlierMs === null) return;
    const expired =
      'SELECT n FROM orders WHERE class = ? AND outcome IS NOT NULL AND ends <= ? ORDER BY ends LIMIT ?';
    for (const each of CLASSES) {
      this.remove(`DELETE FROM orders WHERE n IN (${expired})`, each, earlierMs, REMOVED_AT_ONCE);
    }
    // Keys from before an older removal are refused by their age.
    this.#file.run('DELETE FROM removals WHERE at <= ?', earlierMs - RECORD_LIFE_MS);
  }

  /** Removes the records that a statement deletes. */
  remove(sql: string, ...values: SqlValue[]): void {
    const removed = this.#file.run(sql, ...values);
    if (removed > 0) this.#file.update({ records: this.#file.state.records - removed });
  }

  drop({ n }: Pick<Removable, 'n'>): void {
    this.remove('DELETE FROM orders WHERE n = ?', n);
  }

  /** Removes a rejected order: its repeat would not trade twice. Keys that were made until then are refused. */
  #removeForRoom(record: Removable | null, refusal: 'full' | 'fullAccount'): void {
    if (record === null) throw new RefusedError(refusal);
    this.drop(record);
    const { dates, state } = this.#file;
    const atMs = Math.max(this.removedAt(record.account), dates.judgedMs, state.judged);
    const sql = 'INSERT OR REPLACE INTO removals (account, at) VALUES (?, ?)';
    this.#file.run(sql, record.account, atMs);
  }

  /** The number of records of an account, of one class or of all. */
  #count(account: Account, recordClass: RecordClass | null = null): number {
    const sql =
      'SELECT count(*) AS figure FROM orders WHERE account = ? AND class = coalesce(?, class)';
    return this.#file.figure(sql, account, recordClass);
  }

  /** The oldest order that the gateway rejected, of an account or of all. */
  #oldestRejected(account: Account | null = null): Removable | null {
    const inAll =
      'SELECT n, account FROM orders WHERE class = ? AND outcome IS NOT NULL ORDER BY ends LIMIT 1';
    if (account === null) return this.#file.get(inAll, REJECTED);
    const sql = 'SELECT n, account FROM orders WHERE account = ? AND class = ? ORDER BY n LIMIT 1';
    return this.#file.get(sql, account, REJECTED);
  }
}
