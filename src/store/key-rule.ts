import type { Dates } from './dates.ts';

/** How far a key's time may be ahead of the clock that judges it. */
export const KEY_AHEAD_MS = 2_000;
/** By how much the clocks of two processes may differ when they judge keys. */
const APART_MS = 1_000;
/** A key up to this age still has its record: the life of a record, less a quarter of an hour for wrong clocks. */
const KEY_LIFE_MS = (24 * 60 - 15) * 60_000;
/** What is added to each time with which a key's time is compared. */
export const KEY_MARGIN_MS = KEY_AHEAD_MS + APART_MS;

/** What a store remembers when it judges a key that has no record. */
interface Memory {
  /** Keys that were made until then may have a record that is missing. Null until it is decided, after a creation or a loss. */
  readonly sinceMs: number | null;
  /** When the latest record of the account was removed to make room; 0 if none was. */
  readonly removedAtMs: number;
}

/** Why an order may have used a key that has no record; `ahead` and `unmeasured` mean that this cannot be judged. */
export type KeyFault = 'unmeasured' | 'ahead' | 'old';

/** Null if no order can have used the key. */
export function keyFault(
  madeMs: number,
  { sinceMs, removedAtMs }: Memory,
  dates: Dates,
): KeyFault | null {
  const fault = timeFault(madeMs, dates);
  const isKept = isCovered(madeMs, sinceMs) && madeMs > removedAtMs + KEY_MARGIN_MS;
  return isKept || fault === 'unmeasured' ? fault : 'old';
}

/** Why the key cannot be taken at these dates, as far as its time alone tells. */
export function timeFault(madeMs: number, { isMeasured, judgedMs }: Dates): KeyFault | null {
  if (!isMeasured) return 'unmeasured';
  if (judgedMs - madeMs > KEY_LIFE_MS) return 'old';
  return madeMs > judgedMs + KEY_AHEAD_MS ? 'ahead' : null;
}

/** Whether the records have every order with a key that was made then, unless the record has ended. */
export function isCovered(madeMs: number, sinceMs: number | null): boolean {
  return sinceMs !== null && madeMs > sinceMs + KEY_MARGIN_MS;
}

/** How long new orders wait for the end of a loss without a report. */
const REPORTED_MS = 10_000;

/** Says that a clock is behind the records, so that all new orders are refused; null if none is. */
export function clockReason(
  sinceMs: number | null,
  { judgedMs, isMeasured }: Dates,
): string | null {
  const takenMs = (sinceMs ?? 0) + KEY_MARGIN_MS;
  if (!isMeasured || takenMs - judgedMs < REPORTED_MS) return null;
  return `the clock is behind the order records: orders are taken from ${new Date(takenMs).toISOString()} on`;
}
