import { isExactNumber, isObject, LongInteger } from '../lib/json.ts';
import { parseMoment } from '../lib/moment-text.ts';

/** The readers of single values. A value that is missing or of another type is read as null. */

/** Milliseconds since the epoch. Unlike a Date, a number costs nothing if no client selects the field. */
export type Moment = number;

export type TimeUnit = 's' | 'ms' | 'auto';

/** A JSON object that has not been checked. */
export type Row = Readonly<Record<string, unknown>>;

export function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function flag(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** A field by its name in its table and on the wire. */
export interface NamedField {
  readonly name: string;
  readonly wire: string;
}

/** The time unit of one answer, and the fields that it lacks. */
export interface Reading {
  readonly unit: TimeUnit;
  /** The fields that an object, or every row of a list, lacks, by its path. The path of a list's rows ends with `[]`. */
  readonly absent: Map<string, readonly NamedField[]>;
}

export function readingIn(unit: TimeUnit): Reading {
  return { unit, absent: new Map() };
}

/** Records the fields that no object at this path has had yet, in these objects or earlier ones. */
export function noteAbsent(
  { absent }: Reading,
  path: string,
  objects: readonly unknown[],
  fields: readonly NamedField[],
): void {
  let lacking = absent.get(path);
  for (const each of objects) {
    // Usually the first object has all fields, so the others are not read.
    if (lacking?.length === 0) return;
    if (!isObject(each)) continue;
    lacking = (lacking ?? fields).filter(({ wire }) => each[wire] === undefined);
    absent.set(path, lacking);
  }
}

/** A double beyond ± 2^53 may be a neighbour of the intended number; 1e999 is read as Infinity. */
function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** A number, or a decimal in a string; null if no double represents it. */
export function figure(value: unknown): number | null {
  const number = numberOf(value);
  return number !== null && isExact(number) ? number : null;
}

/** The nearest double, for the fields of an instrument: with a null the row would be left out. */
export function nearest(value: unknown): number | null {
  const number = typeof value === 'string' && decimal(value) !== null ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** In answers whose ids may be numeric, long integers are objects. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return decimal(value);
  return value instanceof LongInteger ? Number(value.digits) : null;
}

// The length of the longest 128-bit decimal.
const MAX_DECIMAL_LENGTH = 48;
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?$/;

/** The number in a string. Infinity if no double represents it, because its neighbour would be another price. */
export function decimal(text: string): number | null {
  if (text.length > MAX_DECIMAL_LENGTH || !DECIMAL.test(text)) return null;
  return isExactNumber(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

const DIGITS = /^\d{1,255}$/;

/** The digits of a numeric identifier that is a number or a string. */
export function numericId(value: unknown): string | null {
  return typeof value === 'string' && DIGITS.test(value) ? value : digits(value);
}

/** The digits of a numeric identifier that is a number. */
export function digits(value: unknown): string | null {
  if (value instanceof LongInteger) return value.digits;
  return typeof value === 'number' && isExact(value) ? String(value) : null;
}

/** GraphQL's Int: whole and within 32 bits. */
export function integer(value: unknown): number | null {
  const number = typeof value === 'string' ? decimal(value) : value;
  return typeof number === 'number' && (number | 0) === number ? number : null;
}

// The years 0 to 9999. Other years are written in a form that few clients read.
const FIRST_INSTANT_MS = Date.parse('0000-01-01');
const END_INSTANT_MS = Date.UTC(10_000);
// The gateway's interface names no unit. A smaller number can only be seconds: as milliseconds it would lie before 1973.
const FIRST_MILLISECONDS = 1e11;

/** Null for 0: many serializers write 0 for an absent time, and no account is as old as 1970. */
export function instant(value: unknown, reading: Reading): Moment | null {
  const moment = typeof value === 'string' ? parseMoment(value) : null;
  if (moment !== null) return moment || null;
  const ticks = numberOf(value);
  if (ticks === null || ticks === 0) return null;
  const ms = Math.trunc(ticks * msPerTick(ticks, reading.unit));
  return ms >= FIRST_INSTANT_MS && ms < END_INSTANT_MS ? ms : null;
}

function msPerTick(ticks: number, unit: TimeUnit): number {
  if (unit !== 'auto') return unit === 's' ? 1000 : 1;
  return Math.abs(ticks) < FIRST_MILLISECONDS ? 1000 : 1;
}
