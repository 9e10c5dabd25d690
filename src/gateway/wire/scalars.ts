import { isExactNumber, LongInteger } from '../../lib/exact-json.ts';
import { memo } from '../../lib/memo.ts';
import { parseMoment } from '../../lib/moment-text.ts';
import { SeenRows } from './seen-rows.ts';

/** Readers for fields that are not required: a missing or wrongly typed value is null, no guess, and costs no row. */

/** Milliseconds since the epoch: plain numbers cost nothing where no client selects them. */
export type Moment = number;

export type TimeUnit = 's' | 'ms' | 'auto';

/** A JSON object as it came: nothing about it is known yet. */
export type Row = Readonly<Record<string, unknown>>;

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function flag(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** How one answer is read. */
export interface Reading {
  readonly unit: TimeUnit;
  /** Counts its figures that no double carries. */
  inexactFigures: number;
  /** Counts its numbers and times that are written as texts. */
  texts: number;
  /** What the rows of each list, and each object, lack. */
  readonly rows: Map<string, SeenRows>;
}

export function readingIn(unit: TimeUnit): Reading {
  return { unit, inexactFigures: 0, texts: 0, rows: new Map() };
}

/** Notes which of the names the rows of a list have, or the object of that key. `path` begins the names of its fields for operators. */
export function seenRows(
  reading: Reading,
  key: string,
  path: string,
  names: readonly string[],
): SeenRows {
  return memo(reading.rows, key, () => new SeenRows(path, names));
}

/** A double beyond ± 2^53 is the neighbour of the figure that was meant; 1e999 is read as Infinity. */
function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

export function figure(value: unknown, reading: Reading): number | null {
  const number = numberOf(value, reading);
  if (number === null || isExact(number)) return number;
  reading.inexactFigures += 1;
  return null;
}

/** What no double carries is the nearest one: for a row that null would cost. */
export function nearest(value: unknown, reading: Reading): number | null {
  const number =
    typeof value === 'string' && decimal(value, reading) !== null ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return null;
  if (!isExact(number)) reading.inexactFigures += 1;
  return number;
}

/** Where an answer's ids may be numeric, its long integers are kept as texts, whatever they are. */
function numberOf(value: unknown, reading: Reading): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return decimal(value, reading);
  return value instanceof LongInteger ? Number(value.digits) : null;
}

// The longest that a decimal of 128 bits is written with, and more than anybody means.
const MAX_DECIMAL_LENGTH = 48;
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?$/;

/** The number that a text is; Infinity where no double carries it, for then its neighbour would be another price. */
export function decimal(text: string, reading: Reading): number | null {
  if (text.length > MAX_DECIMAL_LENGTH || !DECIMAL.test(text)) return null;
  reading.texts += 1;
  return isExactNumber(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

const DIGITS = /^\d{1,255}$/;

/** The digits of a numeric identifier. */
export function digits(value: unknown, reading?: Reading): string | null {
  if (value instanceof LongInteger) return value.digits;
  if (reading !== undefined && typeof value === 'string' && DIGITS.test(value)) {
    reading.texts += 1;
    return value;
  }
  return typeof value === 'number' && isExact(value) ? String(value) : null;
}

/** GraphQL's Int: whole and within 32 bits. */
export function integer(value: unknown, reading: Reading): number | null {
  const number = typeof value === 'string' ? decimal(value, reading) : value;
  return typeof number === 'number' && (number | 0) === number ? number : null;
}

// The years 0 to 9999: any other is written in a form that hardly a client reads.
const FIRST_INSTANT_MS = Date.parse('0000-01-01');
// An absent time, as .NET and Go write it.
const YEAR_ONE_MS = Date.parse('0001-01-01');
const END_INSTANT_MS = Date.UTC(10_000);
// The interface names no unit. Below the first a number can only be seconds: as milliseconds it would lie before
// 1973. From the second on it can only be microseconds: as milliseconds it would lie behind the year 5138.
const FIRST_MILLISECONDS = 1e11;
const FIRST_MICROSECONDS = 1e14;

/** Many serializers write an absent time as 0, and no account is as old as 1970. */
export function instant(value: unknown, reading: Reading): Moment | null {
  const moment = typeof value === 'string' ? parseMoment(value) : null;
  if (moment !== null) {
    reading.texts += 1;
    return moment === 0 || moment === YEAR_ONE_MS ? null : moment;
  }
  const ticks = numberOf(value, reading);
  if (ticks === null || ticks === 0) return null;
  const ms = Math.trunc(ticks * msPerTick(ticks, reading.unit));
  return ms >= FIRST_INSTANT_MS && ms < END_INSTANT_MS ? ms : null;
}

function msPerTick(ticks: number, unit: TimeUnit): number {
  if (unit !== 'auto') return unit === 's' ? 1000 : 1;
  const size = Math.abs(ticks);
  if (size < FIRST_MILLISECONDS) return 1000;
  return size < FIRST_MICROSECONDS ? 1 : 1 / 1000;
}
