import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Account } from '../../../lib/account.ts';
import {
  type OrderRecord,
  RECORD_LIFE_MS,
  type Reservation,
  toOrderRecord,
} from '../order-records.ts';
import { NEVER_SENT, SHARE_CHARACTERS } from '../record-shares.ts';
import { ageMs, type MachineClock, type MachineMoment, machineMoment } from './machine-clock.ts';

/**
 * The column `login` has the account. A key stands in the table and, as itself and as a hash, in two indexes: whichever copy is damaged,
 * another still leads to its row. Rows are numbered in the order of their reservation. Numbers are
 * REAL: a damaged integer may be more than JavaScript can read.
 */
export const SCHEMA = `
CREATE TABLE orders (
  id INTEGER PRIMARY KEY, login TEXT NOT NULL, key TEXT NOT NULL, keyHash REAL NOT NULL,
  reservation TEXT NOT NULL, input TEXT NOT NULL, pendingMs REAL NOT NULL, outcome TEXT,
  at TEXT NOT NULL, boot TEXT NOT NULL, uptimeMs REAL NOT NULL, digest TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX orders_key ON orders (login, key);
CREATE UNIQUE INDEX orders_hash ON orders (keyHash)`;

const SELECT = `SELECT CAST(id AS REAL) AS id, login AS account, key, keyHash, reservation, input, pendingMs,
  outcome, at, boot, uptimeMs, digest,
  EXISTS (SELECT 1 FROM orders AS other INDEXED BY orders_key
    WHERE other.login = one.login AND other.key = one.key AND other.rowid = one.rowid)
  AND EXISTS (SELECT 1 FROM orders AS other INDEXED BY orders_hash
    WHERE other.keyHash = one.keyHash AND other.rowid = one.rowid) AS isIndexed
  FROM orders AS one NOT INDEXED`;

/** The statements that run for an order or a question; none may read more than its account's rows. */
export const SQL = {
  byKey:
    'SELECT CAST(id AS REAL) AS id FROM orders INDEXED BY orders_key WHERE login = ? AND key = ?',
  byHash: 'SELECT CAST(id AS REAL) AS id FROM orders INDEXED BY orders_hash WHERE keyHash = ?',
  byId: `${SELECT} WHERE id = ?`,
  account: 'SELECT count(*) AS held FROM orders INDEXED BY orders_key WHERE login = ?',
  // No digest of an order's input is empty, and those below 0 have been freed.
  share: `SELECT count(*) AS account, CAST(min(id) AS REAL) AS oldestOfAccount, count(*) FILTER (WHERE isOwn) AS token,
    CAST(min(id) FILTER (WHERE isOwn) AS REAL) AS oldestOfToken, count(*) FILTER (WHERE isRejected) AS rejected,
    count(*) FILTER (WHERE isRejected AND isOwn) AS rejectedOfToken,
    CAST(min(id) FILTER (WHERE isRejected) AS REAL) AS oldestOfRejected
    FROM (SELECT id, substr(reservation, 1, ${SHARE_CHARACTERS}) = :share AS isOwn,
      outcome LIKE '%"kind":"rejected"%' AND outcome NOT LIKE '%"sent":false%' AS isRejected
      FROM orders INDEXED BY orders_key WHERE login = :account AND pendingMs >= 0
      AND (input = '' OR substr(reservation, ${SHARE_CHARACTERS}, 1) = '${NEVER_SENT}') = :isNeverSent)`,
  ofAccount: 'SELECT CAST(id AS REAL) AS id FROM orders INDEXED BY orders_key WHERE login = ?',
  // Sorted by row id, since the `id` that is selected is computed, and sorting by it would read all rows for each order.
  after: `${SELECT} WHERE id > ? ORDER BY rowid LIMIT ?`,
  last: 'SELECT CAST(max(id) AS REAL) AS id FROM orders',
  // So many orders come in no minute: one that is further back was found before.
  pending: `SELECT CAST(id AS REAL) AS id FROM orders NOT INDEXED
    WHERE id > ? - 20000 AND outcome IS NULL ORDER BY rowid LIMIT 100`,
  insert: `INSERT INTO orders VALUES (NULL, :account, :key, :keyHash, :reservation, :input, :pendingMs,
    :outcome, :at, :boot, :uptimeMs, :digest)`,
  update: `UPDATE orders SET outcome = :outcome, pendingMs = :pendingMs, boot = :boot, uptimeMs = :uptimeMs,
    digest = :digest WHERE id = :id`,
  delete: 'DELETE FROM orders WHERE id = ?',
};

export type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>;

export function prepare(database: DatabaseSync): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]);
  return Object.fromEntries(prepared);
}

/** The columns that are written of an order. */
export type OrderContent = Readonly<ReturnType<typeof toContent>>;

export interface OrderRow extends OrderContent {
  readonly id: number;
  readonly digest: string;
  /** 1 where both indexes lead to it. */
  readonly isIndexed: number;
}

export function toContent(reservation: Reservation, clock: MachineClock) {
  const { id, inputDigest, pendingMs, reservedAtMs } = reservation;
  const [account, key] = wellFormed(reservation);
  return {
    account,
    key,
    keyHash: keyHash(account, key),
    reservation: id,
    input: inputDigest,
    /** JSON; null while pending. */
    outcome: null as string | null,
    pendingMs: Math.ceil(pendingMs),
    ...machineMoment(clock, reservedAtMs),
  };
}

export function toRecord(row: OrderRow, clock: MachineClock): OrderRecord {
  const of = { id: row.reservation, inputDigest: row.input, reservedAtMs: Date.parse(row.at) };
  // The process of an order from before a restart of the machine is dead.
  const leftMs = row.boot === clock.boot ? row.pendingMs - ageMs(row, clock) : 0;
  return toOrderRecord(of, JSON.parse(row.outcome ?? 'null'), leftMs);
}

/** Whether a record is from before a restart of the machine, and dated so far ahead that one of the two dates is wrong. */
export function isFarAhead({ at, boot }: OrderRow, clock: MachineClock): boolean {
  return boot !== clock.boot && Date.parse(at) - clock.nowMs() > RECORD_LIFE_MS;
}

export function isOver(moment: MachineMoment, clock: MachineClock): boolean {
  return ageMs(moment, clock) >= RECORD_LIFE_MS;
}

/** A key as SQLite gives it back, which digests are made of. An account has no character that it would change. */
export function wellFormed({
  account,
  key,
}: Pick<OrderContent, 'account' | 'key'>): [Account, string] {
  return [account, key.toWellFormed()];
}

export function keyHash(account: Account, key: string): number {
  // 52 bits, which a number holds exactly.
  return Number.parseInt(digest([account, key]).slice(0, 13), 16);
}

/** False where anything but this program has changed it. */
export function isIntact(row: OrderRow): boolean {
  return row.digest === rowDigest(row);
}

/** Over account, key and content. */
export function rowDigest(row: OrderContent): string {
  const { account, key, reservation, input, pendingMs, outcome, at, boot, uptimeMs } = row;
  const content = [reservation, input, pendingMs, outcome, at, boot, uptimeMs];
  return digest([account, key, row.keyHash, ...content]);
}

function digest(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values)).slice(0, 32);
}
