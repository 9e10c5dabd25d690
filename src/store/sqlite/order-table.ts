import type { Account } from '../../lib/account.ts';
import { isCovered, type KeyFault, keyFault } from '../key-rule.ts';
import type { FoundOrder, StoredOrder } from '../operator-records.ts';
import { keyTimeOf } from '../order-key.ts';
import {
  CLOSED,
  CUT_OFF_GRACE_MS,
  type CutOffOrder,
  isClosed,
  isGatewayRejection,
  isUnknown,
  type OrderKey,
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  type Reservation,
  rank,
  toOrderRecord,
  UNKNOWN_LIFE_MS,
} from '../order-records.ts';
import type { RecordBounds } from '../record-shares.ts';
import { RefusedError } from '../refusals.ts';
import type { OrderFile } from './order-file.ts';
import {
  NEVER_SENT,
  REJECTED,
  type RecordClass,
  RecordRoom,
  SENT,
  UNKNOWN,
} from './record-room.ts';

interface Row {
  readonly n: number;
  readonly account: Account;
  readonly key: string;
  readonly id: string;
  readonly class: RecordClass;
  readonly digest: string;
  readonly reserved: number;
  readonly pendingUntil: number;
  readonly ends: number;
  readonly overdueRead: 0 | 1;
  readonly asked: string | null;
  readonly outcome: string | null;
}

const ROWS_AT_ONCE = 500;
/** Each batch counts the unknown orders, so the count has an end. */
const MAX_COUNTED = 10_000;

/** The order records in the tables of a file, and their rules. Each method runs within a transaction of the file, and uses its dates. */
export class OrderTable {
  readonly room: RecordRoom;
  readonly #file: OrderFile;
  /** The settings that name the accounts. */
  readonly #accounts: string | undefined;

  constructor(file: OrderFile, bounds: RecordBounds) {
    this.#file = file;
    this.room = new RecordRoom(file, bounds);
    this.#accounts = bounds.accounts;
  }

  /** Adds a record without an outcome, and returns null. If the key was used before, returns its record. */
  add(reservation: Reservation): OrderRecord | null {
    const found = this.find(reservation);
    if (found === null) this.#addInRoom(reservation, null);
    return found;
  }

  settle(reservation: Reservation, outcome: RecordedOutcome): RecordedOutcome | null {
    const found = this.#rowOf(reservation);
    // If a loss took the record, this process still knows the outcome and writes the record again.
    if (found === null && !this.#isCovered(reservation)) this.#insert(reservation, outcome);
    if (found?.id !== reservation.id) return null;
    const present = this.#recordOf(found).outcome;
    if (rank(outcome) <= rank(present)) return present;
    this.#setOutcome(found, outcome);
    return null;
  }

  release(reservation: Reservation): void {
    const found = this.#rowOf(reservation);
    // After the deadline the record is kept, because clients may have read that the outcome is unknown.
    if (found?.id === reservation.id && this.#recordOf(found).pendingMs > 0) this.room.drop(found);
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
      this.#setOutcome(row, outcome);
      return { account, key, reservedAtMs };
    });
  }

  /** How many orders are unknown. */
  unsettled(): number {
    const sql = `SELECT count(*) AS figure FROM
      (SELECT 1 FROM orders WHERE class = ? AND outcome IS NOT NULL LIMIT ?)`;
    return this.#file.figure(sql, UNKNOWN, MAX_COUNTED);
  }

  /** Whether the accounts of the records have other names than this process gives them. */
  isRenamed(): boolean {
    const { accounts: namedBy, records } = this.#file.state;
    if (this.#accounts === undefined || namedBy === null || records === 0) return false;
    return namedBy !== this.#accounts;
  }

  /** The record of a key for an operator, even if other records may be missing. */
  show(order: OrderKey): FoundOrder | null {
    const found = this.#rowOf(order);
    if (found === null) return null;
    return { ...this.#recordOf(found), overdueMs: this.#file.dates.nowMs - found.pendingUntil };
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
    const memory = { sinceMs: state.since, removedAtMs: this.room.removedAt(account) };
    return keyFault(keyTimeOf(key) ?? 0, memory, dates);
  }

  #isCovered({ key }: OrderKey): boolean {
    return isCovered(keyTimeOf(key) ?? 0, this.#file.state.since);
  }

  /** Refuses a record for which there is no room. */
  #addInRoom(reservation: Reservation, outcome: RecordedOutcome | null): void {
    this.room.make(reservation);
    this.#file.noteJudged();
    this.#insert(reservation, outcome);
    if (this.#accounts !== undefined) this.#file.update({ accounts: this.#accounts });
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
    const { id, digest: inputDigest, reserved: reservedAtMs, pendingUntil } = row;
    const order = { id, inputDigest, reservedAtMs, asked: JSON.parse(row.asked ?? 'null') };
    const leftMs = row.overdueRead === 1 ? 0 : pendingUntil - this.#file.dates.nowMs;
    return toOrderRecord(order, JSON.parse(row.outcome ?? 'null'), leftMs);
  }

  #insert(order: Reservation, outcome: RecordedOutcome | null): void {
    const { account, key, id, inputDigest, reservedAtMs, pendingMs, isNeverSent, asked } = order;
    const { nowMs, laterMs } = this.#file.dates;
    // An expired record of the key may still be there.
    this.room.remove('DELETE FROM orders WHERE account = ? AND key = ?', account, key);
    const sql = `INSERT INTO orders (account, key, id, digest, reserved, pendingUntil, class, ends, asked, outcome)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
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
    );
    this.#file.update({ records: this.#file.state.records + 1 });
  }

  #setOutcome(row: Row, outcome: RecordedOutcome): void {
    const sql = 'UPDATE orders SET outcome = ?, ends = ?, class = ? WHERE n = ?';
    const ends = this.#file.dates.laterMs + lifeOf(outcome);
    const recordClass = row.class === NEVER_SENT ? NEVER_SENT : classOf(outcome);
    this.#file.run(sql, JSON.stringify(outcome), ends, recordClass, row.n);
  }
}

function classOf(outcome: RecordedOutcome | null): RecordClass {
  if (rank(outcome) === 1) return UNKNOWN;
  return isGatewayRejection(outcome) ? REJECTED : SENT;
}

/** How long a record lives after its outcome was written. */
function lifeOf(outcome: RecordedOutcome | null): number {
  return rank(outcome) === 2 ? RECORD_LIFE_MS : UNKNOWN_LIFE_MS;
}
