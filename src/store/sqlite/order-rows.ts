import { hash } from 'node:crypto';
import {
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  type Reservation,
} from '../order-records.ts';
import { ageMs, type MachineClock, type Moment, momentOf } from './machine-clock.ts';

/**
 * A key stands in the table and, as itself and as a hash, in two indexes: whichever copy is damaged,
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

export const SELECT_ROWS = `SELECT CAST(id AS REAL) AS id, login, key, keyHash, reservation, input,
  pendingMs, outcome, at, boot, uptimeMs, digest FROM orders NOT INDEXED`;

export interface OrderRow extends Moment {
  readonly id: number;
  readonly login: string;
  readonly key: string;
  readonly keyHash: number;
  readonly reservation: string;
  readonly input: string;
  readonly pendingMs: number;
  /** JSON; null while pending. */
  readonly outcome: string | null;
  readonly digest: string;
}

export function toRow(reservation: Reservation, clock: MachineClock): Omit<OrderRow, 'id'> {
  const { id, canonical, pendingMs, reservedAtMs } = reservation;
  const [login, key] = wellFormed(reservation);
  const row = {
    ...{ login, key, keyHash: keyHash(login, key), reservation: id, input: canonical },
    ...{ pendingMs: Math.ceil(pendingMs), outcome: null, ...momentOf(clock, reservedAtMs) },
  };
  return { ...row, digest: rowDigest(row) };
}

export function withOutcome(row: OrderRow, outcome: RecordedOutcome): OrderRow {
  const settled = { ...row, outcome: JSON.stringify(outcome) };
  return { ...settled, digest: rowDigest(settled) };
}

/** From before a restart of the machine, and dated so far ahead that one of the two dates is wrong. */
export function isFarAhead({ at, boot }: OrderRow, clock: MachineClock): boolean {
  return boot !== clock.boot && Date.parse(at) - clock.nowMs() > RECORD_LIFE_MS;
}

/** Its age counts from now; its date stays, since it may be the correct one. */
export function madeNow(row: OrderRow, clock: MachineClock): OrderRow {
  const { boot, uptimeMs } = momentOf(clock);
  const moved = { ...row, boot, uptimeMs };
  return { ...moved, digest: rowDigest(moved) };
}

export function toRecord(row: OrderRow, clock: MachineClock): OrderRecord {
  const outcome = JSON.parse(row.outcome ?? 'null') as RecordedOutcome | null;
  return {
    ...{ id: row.reservation, canonical: row.input, reservedAtMs: Date.parse(row.at), outcome },
    pendingMs: outcome === null ? Math.max(0, row.pendingMs - ageMs(row, clock)) : 0,
  };
}

export function isOver(moment: Moment, clock: MachineClock): boolean {
  return ageMs(moment, clock) >= RECORD_LIFE_MS;
}

/** As SQLite gives it back, which is what digests have to be of. */
export function wellFormed({ login, key }: { login: string; key: string }): [string, string] {
  return [login.toWellFormed(), key.toWellFormed()];
}

export function keyHash(login: string, key: string): number {
  // 52 bits, which a number holds exactly.
  return Number.parseInt(digest([login, key]).slice(0, 13), 16);
}

/** Over account, key and content: detects a change by anything but this program. */
export function rowDigest(row: Omit<OrderRow, 'id' | 'digest'>): string {
  const { login, key, reservation, input, pendingMs, outcome, at, boot, uptimeMs } = row;
  const content = [reservation, input, pendingMs, outcome, at, boot, uptimeMs];
  return digest([login, key, row.keyHash, ...content]);
}

function digest(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values)).slice(0, 32);
}
