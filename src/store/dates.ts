/** How far the gateway's clock is ahead of this machine's. */
interface MeasuredSkew {
  /** Null until two answers of the gateway agree. */
  readonly ms: number | null;
  /** Null until the first answer of the gateway. */
  readonly earlyMs: number | null;
}

/** The dates of one moment, by this machine's clock and the gateway's. */
export interface Dates {
  readonly nowMs: number;
  /**
   * The date by which keys are judged, which answers show as `Date`: the gateway's as measured, whatever this machine's
   * clock says. So two processes differ by their errors of measurement alone.
   */
  readonly judgedMs: number;
  /** Whether the gateway's clock was measured. Before that no unknown key is judged. */
  readonly isMeasured: boolean;
  /** The date by the later clock, used to date records. */
  readonly laterMs: number;
  /** The date by the earlier clock, used to expire records. Null if the gateway's clock is unknown or one clock is wrong. */
  readonly earlierMs: number | null;
}

/** With a larger difference, at least one of two clocks is wrong. */
const AGREE_MS = 60_000;

export function datesOf(nowMs: number, { ms, earlyMs }: MeasuredSkew): Dates {
  const skewMs = earlyMs ?? 0;
  const clocksAgree = ms !== null && Math.abs(ms) <= AGREE_MS;
  return {
    nowMs,
    judgedMs: Math.floor(nowMs + skewMs),
    isMeasured: earlyMs !== null,
    laterMs: Math.ceil(nowMs + Math.max(0, skewMs)),
    earlierMs: clocksAgree ? Math.floor(nowMs + Math.min(0, ms)) : null,
  };
}

/** The dates of a process that has not measured the gateway's clock. */
export function unmeasuredDates(nowMs: number): Dates {
  return datesOf(nowMs, { ms: null, earlyMs: null });
}
