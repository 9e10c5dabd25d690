import type { Moment } from '../model.ts';

/**
 * Readers for the fields that the interface does not require: a missing or wrongly typed value is
 * null, never a guess, and never a reason to lose the row it stands in.
 */

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

/** JSON.parse reads 1e999 as Infinity, which neither JSON nor GraphQL can carry on. */
export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** GraphQL's Int: whole and within 32 bits. */
export function integer(value: unknown): number | null {
  return typeof value === 'number' && (value | 0) === value ? value : null;
}

// The last millisecond a Date can hold; beyond it no text can be made of it.
const LAST_INSTANT_MS = 8.64e15;
// The interface names no unit. Below this a number can only be seconds: as milliseconds it would lie before 1973.
const FIRST_MILLISECONDS = 1e11;

export function instant(value: unknown, unit: TimeUnit): Moment | null {
  const ticks = number(value);
  if (ticks === null) return null;
  const seconds = unit === 's' || (unit === 'auto' && ticks < FIRST_MILLISECONDS);
  const ms = seconds ? ticks * 1000 : ticks;
  return Math.abs(ms) <= LAST_INSTANT_MS ? Math.trunc(ms) : null;
}
