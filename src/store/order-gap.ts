/**
 * The furthest that a client's clock is allowed to be ahead. A key that its client dates further in the future is refused.
 * So a key with a date more than this after a loss of records has no order from before the loss.
 */
export const KEY_AHEAD_MS = 60_000;
/** The tolerated difference between the clocks of replicas, and between a server and a client that knows its dates. */
export const CLOCK_TOLERANCE_MS = 2_000;

/** With a larger difference, at least one of two clocks is wrong. */
const AGREE_MS = 60_000;
/** A larger difference is not used as a measure: one clock is absurd, and it is unknown which. */
const MAX_APART_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** The dates of one moment, by this machine's clock and the gateway's. */
export interface Dates {
  readonly nowMs: number;
  /** The date by which the age of keys is judged: the gateway's if this machine's clock is behind it or wrong. */
  readonly judgedMs: number;
  /** The date by the later clock, used to date records. */
  readonly laterMs: number;
  /** The date by the earlier clock, used to expire records. Null if the gateway's clock is unknown or one clock is wrong. */
  readonly earlierMs: number | null;
  /** The difference of the clocks. Null if the gateway's clock is unknown or one clock is absurd. */
  readonly differMs: number | null;
}

/** `skewMs`: how far the gateway's clock is ahead of this machine's; null if it was not measured. */
export function datesOf(nowMs: number, skewMs: number | null): Dates {
  const apartMs = Math.abs(skewMs ?? 0);
  const isMeasured = skewMs !== null && apartMs <= MAX_APART_MS;
  const clocksAgree = skewMs !== null && apartMs <= AGREE_MS;
  const clocksAreEqual = apartMs <= CLOCK_TOLERANCE_MS;
  return {
    nowMs,
    // The gateway's date is measured by answers in whole seconds. The tolerance is subtracted, so that it is never too late.
    judgedMs: clocksAreEqual ? nowMs : nowMs + judgedAheadMs(skewMs) - CLOCK_TOLERANCE_MS,
    laterMs: nowMs + Math.max(0, skewMs ?? 0),
    earlierMs: clocksAgree ? nowMs + Math.min(0, skewMs) : null,
    differMs: isMeasured ? Math.ceil(apartMs) : null,
  };
}

/** How far the date that judges clients' dates is ahead of this machine's clock; below 0 if this machine's clock is wrong. */
export function judgedAheadMs(skewMs: number | null): number {
  if (skewMs === null) return 0;
  const usesGatewayDate = skewMs > 0 || skewMs < -AGREE_MS;
  return usesGatewayDate ? skewMs : 0;
}

/**
 * The end of a gap (R in docs/architecture.md): a moment after the creation of all keys that were used before the loss, by
 * the clock of every process. Null while the gateway's clock is unknown. `mostApartMs`: the largest difference between the
 * gateway's clock and that of a process that accepted orders.
 */
export function gapEndOf({ laterMs, differMs }: Dates, mostApartMs: number): number | null {
  if (differMs === null) return null;
  return Math.ceil(laterMs + Math.max(differMs, mostApartMs) + CLOCK_TOLERANCE_MS);
}

/**
 * When a loss is over: a day after the end of the gap. An end that was never decided is taken to be two days after the
 * loss, because the clock that dated the loss may be wrong.
 */
export function lossEndOf(lostAtMs: number, untilMs: number | null): number {
  return (untilMs ?? lostAtMs + 2 * DAY_MS) + DAY_MS + KEY_AHEAD_MS;
}

/** `untilMs`: the end of the gap; null until it is decided. */
export function isMadeAfterGap(madeMs: number | null, untilMs: number | null): boolean {
  return madeMs !== null && untilMs !== null && madeMs > untilMs + KEY_AHEAD_MS;
}

/** Describes for operators which keys are refused. */
export function gapReason(what: string, untilMs: number | null): string {
  const keys =
    untilMs === null
      ? 'keys without a record are refused until the clock of the gateway is known'
      : `keys made before ${new Date(untilMs + KEY_AHEAD_MS).toISOString()} are refused if they have no record`;
  return `${what} may be incomplete: ${keys} (trading-graph orders --help)`;
}
