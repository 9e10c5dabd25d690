import type { Account } from '../../lib/account.ts';
import { type Dates, isMadeAfterGap, KEY_AHEAD_MS, lossEndOf, lossUntilOf } from '../order-gap.ts';
import {
  AccountRecordsFullError,
  CUT_OFF_GRACE_MS,
  type CutOffOrder,
  closedBy,
  isUnknown,
  KEY_LIFE_MS,
  NO_TIMES,
  type OrderKey,
  type OrderRecord,
  type OrderTimes,
  RECORD_LIFE_MS,
  RENAMED,
  type RecordedOutcome,
  RecordsForgottenError,
  RecordsGapError,
  RecordsUnavailableError,
  type Reservation,
  rank,
  storeFull,
  toOrderRecord,
} from '../order-records.ts';
import { isOfNeverSent, type RecordBounds, recordQuota } from '../record-shares.ts';
import {
  agree,
  isSettled,
  LATE_ANSWER_MS,
  type SettleAnswer,
  type SettleRequest,
} from '../settlement.ts';
import type { OrderFile } from './order-file.ts';
import {
  CLASSES,
  type Class,
  classOf,
  lifeOf,
  NEVER_SENT,
  REJECTED,
  type Row,
  recordOf,
  SENT,
} from './order-row.ts';

/** More than one batch adds. */
const FORGOTTEN_AT_ONCE = 400;
const ROWS_AT_ONCE = 500;

/** The records in the tables of an order file. All but `rows` runs within a transaction of the file, and goes by the dates of its batch. */
export class OrderTable {
  readonly #file: OrderFile;
  readonly #bounds: RecordBounds;
  readonly #dates: () => Dates;
  /** Rows that were read as overdue for the first time. */
  readonly #overdue = new Set<number>();

  constructor(file: OrderFile, bounds: RecordBounds, dates: () => Dates) {
    this.#file = file;
    this.#bounds = bounds;
    this.#dates = dates;
  }

  /** Null where the key is taken by this reservation. */
  reserve(reservation: Reservation, keyMadeMs: number | null): OrderRecord | null {
    const { account, key } = reservation;
    const found = this.#recordOf(account, key, keyMadeMs);
    if (found !== null) return found;
    if (keyMadeMs !== null && this.#isForgotten(account, keyMadeMs)) {
      throw new RecordsForgottenError();
    }
    this.#makeRoom(reservation);
    this.#insert(reservation, null, NO_TIMES);
    const { state } = this.#file;
    state.apart = Math.max(state.apart, this.#dates().differMs ?? 0);
    return null;
  }

  settle(
    reservation: Reservation,
    outcome: RecordedOutcome,
    times = NO_TIMES,
  ): RecordedOutcome | null {
    const { account, key, id } = reservation;
    const found = this.#row(account, key);
    // A loss took the record: its process still knows what became of the order.
    if (found === null && this.isIncomplete()) this.#insert(reservation, outcome, times);
    if (found?.id !== id) return null;
    const present = this.record(found).outcome;
    if (isSettled(present)) return present;
    if (rank(outcome) > rank(present)) this.#setOutcome(found, outcome, times);
    return null;
  }

  release({ account, key, id }: Reservation): void {
    const found = this.#row(account, key);
    // After its deadline clients may have read that it is unknown.
    if (found?.id === id && this.record(found).pendingMs > 0) this.#drop(found.n);
  }

  find({ account, key }: OrderKey): OrderRecord | null {
    return this.#recordOf(account, key, null);
  }

  /** Does nothing: the batch answers the state of the store. */
  check(): null {
    return null;
  }

  /** Reads the record of a key for an operator, also while other records may be missing. */
  look(account: Account, key: string): OrderRecord | null {
    const found = this.#row(account, key);
    return found && this.record(found);
  }

  /** Closes also a key that the file may have forgotten: the outcome holds how far back the file remembers. */
  voidKey(reservation: Reservation, keyAgeMs: number | null): OrderRecord {
    const { account, key } = reservation;
    this.#refuseOtherName();
    const found = this.#heldRecord(account, key);
    if (found !== null) return found;
    this.#makeRoom(reservation);
    const outcome = closedBy(keyAgeMs, this.#rememberedMs(reservation));
    this.#insert(reservation, outcome, NO_TIMES);
    return toOrderRecord(reservation, outcome, 0);
  }

  cutOff(): readonly CutOffOrder[] {
    const { nowMs } = this.#dates();
    const sql = 'SELECT * FROM orders WHERE outcome IS NULL AND pendingUntil <= ? LIMIT ?';
    const rows = this.#all(sql, nowMs - CUT_OFF_GRACE_MS, ROWS_AT_ONCE);
    return rows.map((row) => {
      const { account, key, reserved: reservedAtMs } = row;
      this.#setOutcome(row, { kind: 'unknown', sentAtMs: reservedAtMs, message: null }, NO_TIMES);
      return { account, key, reservedAtMs };
    });
  }

  /** Gives an unknown order the outcome that an operator names. */
  settleByHand({ account, key, outcome }: SettleRequest): SettleAnswer {
    const found = this.#row(account, key);
    if (found === null) return { kind: 'none' };
    const present = this.record(found);
    if (rank(present.outcome) === 2) {
      const isSame = isSettled(present.outcome) && agree(present.outcome, outcome);
      return { kind: isSame ? 'settled' : 'known', record: present };
    }
    const leftMs = found.pendingUntil + LATE_ANSWER_MS - this.#dates().nowMs;
    if (leftMs > 0) return { kind: 'early', leftMs };
    this.#setOutcome(found, outcome, NO_TIMES);
    return { kind: 'settled', record: { ...present, outcome, pendingMs: 0 } };
  }

  /** The next rows behind one, of one account or of all. */
  rows(account: Account | null, after: number): readonly Row[] {
    const sql =
      'SELECT * FROM orders WHERE n > ? AND account = coalesce(?, account) ORDER BY n LIMIT ?';
    return this.#all(sql, after, account, ROWS_AT_ONCE).filter((row) => !this.#isOver(row));
  }

  record(row: Row): OrderRecord {
    return recordOf(row, this.#dates().nowMs);
  }

  /** Removes as many as a batch may add, or records that have ended would fill the bound. */
  forgetEnded(): void {
    const { surelyMs } = this.#dates();
    if (surelyMs === null) return;
    for (const each of CLASSES) {
      const ended = `SELECT n FROM orders WHERE class = ? AND outcome IS NOT NULL AND ends <= ? ORDER BY ends LIMIT ${FORGOTTEN_AT_ONCE}`;
      const sql = `DELETE FROM orders WHERE n IN (${ended})`;
      this.#file.state.records -= this.#run(sql, each, surelyMs);
    }
    // A key from before a removal that was so long ago is refused by its age.
    this.#run('DELETE FROM removals WHERE at <= ?', surelyMs - RECORD_LIFE_MS);
  }

  hasEnded(): boolean {
    const { surelyMs } = this.#dates();
    if (surelyMs === null) return false;
    const sql =
      'SELECT count(*) AS figure FROM (SELECT 1 FROM orders WHERE class = ? AND outcome IS NOT NULL AND ends <= ? LIMIT 1)';
    return CLASSES.some((each) => this.#figure(sql, each, surelyMs) > 0);
  }

  /** Whether there is no room for a new order. */
  isFull(): boolean {
    return this.#file.state.records >= this.#bounds.max && this.#oldestRejected() === null;
  }

  isOtherName(): boolean {
    const { accounts } = this.#bounds;
    const { accounts: named, records } = this.#file.state;
    return accounts !== undefined && named !== null && named !== accounts && records > 0;
  }

  /** Whether records may be missing. */
  isIncomplete(): boolean {
    const { lostAt, lossUntil } = this.#file.state;
    if (lostAt === null) return false;
    const { surelyMs } = this.#dates();
    return surelyMs === null || surelyMs < lossEndOf(lostAt, lossUntil);
  }

  /** Whether R is to be fixed, and can be. */
  get canFixLoss(): boolean {
    const { lostAt, lossUntil } = this.#file.state;
    return lostAt !== null && lossUntil === null && this.#dates().differMs !== null;
  }

  fixLoss(): void {
    const { state } = this.#file;
    state.lossUntil = lossUntilOf(this.#dates(), state.apart);
  }

  /** Whether `tellOverdue` has something to write. */
  get hasOverdue(): boolean {
    return this.#overdue.size > 0;
  }

  /** Clients have read that these orders are overdue: they stay so, even where the date is set back. */
  tellOverdue(): void {
    for (const n of this.#overdue) this.#run('UPDATE orders SET told = 1 WHERE n = ?', n);
  }

  /** Called once `tellOverdue` is committed. */
  forgetOverdue(): void {
    this.#overdue.clear();
  }

  /** The record of a key as clients read it. */
  #heldRecord(account: Account, key: string): OrderRecord | null {
    const row = this.#row(account, key);
    if (row === null) return null;
    const record = this.record(row);
    if (isUnknown(record) && record.outcome === null && row.told === 0) this.#overdue.add(row.n);
    return record;
  }

  /** Throws where the record of the key may be missing. */
  #recordOf(account: Account, key: string, keyMadeMs: number | null): OrderRecord | null {
    this.#refuseOtherName();
    const found = this.#heldRecord(account, key);
    if (found !== null) return found;
    const { lossUntil } = this.#file.state;
    if (!this.isIncomplete() || isMadeAfterGap(keyMadeMs, lossUntil)) return null;
    throw new RecordsGapError(lossUntil, keyMadeMs);
  }

  /** The orders of an account are not found by another name of it. */
  #refuseOtherName(): void {
    if (this.isOtherName()) throw new RecordsUnavailableError(RENAMED);
  }

  #isForgotten(account: Account, keyMadeMs: number): boolean {
    const { nowMs, judgedMs } = this.#dates();
    const knownMs = Math.min(nowMs - this.#file.state.since, KEY_LIFE_MS);
    return judgedMs - keyMadeMs > knownMs || keyMadeMs <= this.#removedAt(account);
  }

  /** How far back the file knows of each key of the account, from the moment that the age of the key is of. */
  #rememberedMs({ account, reservedAtMs }: Reservation): number {
    const { since, lossUntil } = this.#file.state;
    const { nowMs, judgedMs } = this.#dates();
    const knownMs = this.isIncomplete()
      ? judgedMs - (lossUntil ?? judgedMs) - KEY_AHEAD_MS
      : nowMs - since;
    const waitedMs = Math.max(0, judgedMs - reservedAtMs);
    return Math.max(0, Math.min(knownMs, judgedMs - this.#removedAt(account)) - waitedMs);
  }

  /** When the newest record of the account was removed before its end. */
  #removedAt(account: Account): number {
    return this.#figure('SELECT at AS figure FROM removals WHERE account = ?', account);
  }

  /** Throws where there is no room for one more. */
  #makeRoom({ account, id }: Reservation): void {
    const { max, maxPerAccount = max } = this.#bounds;
    const sent = this.#count(account, SENT);
    const neverSent = this.#count(account, NEVER_SENT);
    const rejected = this.#count(account, REJECTED);
    if (isOfNeverSent(id) && neverSent >= recordQuota(this.#bounds, true)) {
      throw new AccountRecordsFullError(this.#bounds, true);
    }
    if (sent + neverSent + rejected >= maxPerAccount) {
      if (rejected === 0) throw new AccountRecordsFullError(this.#bounds, false);
      const sql = 'SELECT * FROM orders WHERE account = ? AND class = ? ORDER BY n LIMIT 1';
      this.#giveWay(this.#one(sql, account, REJECTED));
    }
    if (this.#file.state.records < max) return;
    const oldest = this.#oldestRejected();
    if (oldest === null) throw storeFull(max);
    this.#giveWay(oldest);
  }

  #count(account: Account, of: Class): number {
    const sql = 'SELECT count(*) AS figure FROM orders WHERE account = ? AND class = ?';
    return this.#figure(sql, account, of);
  }

  #oldestRejected(): Row | null {
    const sql =
      'SELECT * FROM orders WHERE class = ? AND outcome IS NOT NULL ORDER BY ends LIMIT 1';
    return this.#one(sql, REJECTED);
  }

  /** The order traded nothing, so its repeat may be sent. A repeat with `keyMade` is refused by the date of the removal. */
  #giveWay(row: Row | null): void {
    if (row === null) return;
    this.#drop(row.n);
    const sql = 'INSERT OR REPLACE INTO removals (account, at) VALUES (?, ?)';
    this.#run(sql, row.account, Math.max(this.#removedAt(row.account), this.#dates().judgedMs));
  }

  #insert(of: Reservation, outcome: RecordedOutcome | null, times: OrderTimes): void {
    const { account, key, id, inputDigest, reservedAtMs, pendingMs, asked = null } = of;
    const { state } = this.#file;
    const { nowMs, laterMs } = this.#dates();
    // An ended record of the key may still be there.
    const over = 'DELETE FROM orders WHERE account = ? AND key = ?';
    state.records -= this.#run(over, account, key.toWellFormed());
    const sql = `INSERT INTO orders (account, key, id, digest, reserved, pendingUntil, class, ends, asked, outcome, sent, answered)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    state.records += this.#run(
      sql,
      account,
      key.toWellFormed(),
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
    state.accounts = this.#bounds.accounts ?? state.accounts;
  }

  #setOutcome({ n, id }: Row, outcome: RecordedOutcome, times: OrderTimes): void {
    const sql = `UPDATE orders SET outcome = ?, ends = ?, class = ?, sent = coalesce(?, sent), answered = coalesce(?, answered)
      WHERE n = ?`;
    const ends = this.#dates().laterMs + lifeOf(outcome);
    const { sentAtMs, answeredAtMs } = times;
    const of = classOf(id, outcome);
    this.#run(sql, JSON.stringify(outcome), ends, of, sentAtMs, answeredAtMs, n);
  }

  #drop(n: number): void {
    this.#file.state.records -= this.#run('DELETE FROM orders WHERE n = ?', n);
  }

  #row(account: Account, key: string): Row | null {
    const sql = 'SELECT * FROM orders WHERE account = ? AND key = ?';
    const found = this.#one(sql, account, key.toWellFormed());
    return found !== null && !this.#isOver(found) ? found : null;
  }

  #isOver({ ends, outcome }: Row): boolean {
    const { surelyMs } = this.#dates();
    return surelyMs !== null && outcome !== null && ends <= surelyMs;
  }

  #all(sql: string, ...values: (string | number | null)[]): readonly Row[] {
    return this.#file.statement(sql).all(...values) as unknown as readonly Row[];
  }

  #one(sql: string, ...values: (string | number)[]): Row | null {
    const found = this.#file.statement(sql).get(...values);
    return found === undefined ? null : (found as unknown as Row);
  }

  /** The column of that name; 0 where there is no row. */
  #figure(sql: string, ...values: (string | number)[]): number {
    const found = this.#file.statement(sql).get(...values) as { readonly figure?: unknown };
    return Number(found?.figure ?? 0);
  }

  #run(sql: string, ...values: (string | number | null)[]): number {
    return Number(this.#file.statement(sql).run(...values).changes);
  }
}
