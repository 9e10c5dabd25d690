/** How far the gateway's clock is ahead of this machine's. */
interface MeasuredSkew {
  /** Null until two answers of the gateway agree. */
  readonly ms: number | null;
  /** Null until the first answer of the gateway. */
  readonly earlyMs: number | null;
  /** How much further ahead it may be; 0 by default, as after quick answers. */
  readonly slowMs?: number;
}

/** The dates of one moment, by this machine's clock and the gateway's. */
export interface Dates {
  readonly nowMs: number;
  /** The date by which keys are judged, which answers show as `Date`: the gateway's, or up to UNCERTAIN_MS later. */
  readonly judgedMs: number;
  /**
   * The latest date that the gateway's clock can show. After a loss keys count from then on: another process may have judged
   * by a later date than this one does, and none by a date that is more than a second after this.
   */
  readonly latestMs: number;
  /** Whether the gateway's clock was measured. Before that no unknown key is judged. */
  readonly isMeasured: boolean;
  /** The date by the later clock, used to date records. */
  readonly laterMs: number;
  /** The date by the earlier clock, used to expire records. Null if the gateway's clock is unknown or one clock is wrong. */
  readonly earlierMs: number | null;
}

/** A measurement is this uncertain. So far this machine's clock may be ahead of the gateway's when it judges keys. */
const UNCERTAIN_MS = 500;
/** With a larger difference, at least one of two clocks is wrong. */
const AGREE_MS = 60_000;

export function datesOf(nowMs: number, { ms, earlyMs, slowMs = 0 }: MeasuredSkew): Dates {
  const skewMs = earlyMs ?? 0;
  const clocksAgree = ms !== null && Math.abs(ms) <= AGREE_MS;
  return {
    nowMs,
    judgedMs: Math.floor(nowMs + (skewMs >= 0 ? skewMs : Math.min(0, skewMs + UNCERTAIN_MS))),
    latestMs: Math.floor(nowMs + skewMs + UNCERTAIN_MS + slowMs),
    isMeasured: earlyMs !== null,
    laterMs: Math.ceil(nowMs + Math.max(0, skewMs)),
    earlierMs: clocksAgree ? Math.floor(nowMs + Math.min(0, ms)) : null,
  };
}

/** The dates of a process that has not measured the gateway's clock. */
export function unmeasuredDates(nowMs: number): Dates {
  return datesOf(nowMs, { ms: null, earlyMs: null });
}
