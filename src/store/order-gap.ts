/**
 * The furthest that a client's clock may be ahead. An order is sent only where its key was made, by the client's word, at most
 * so long after it: a key that was made later than this after a loss of records has no order before the loss.
 */
export const KEY_AHEAD_MS = 60_000;
/** Between the replicas of one service, and between a server and a client that knows its dates. */
export const CLOCKS_DIFFER_MS = 2_000;

/** Two clocks that are further apart contradict each other. */
const AGREE_MS = 60_000;
/** Where two clocks are further apart one is absurd, and nobody knows which. */
const MAX_APART_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** The dates of one moment, by this machine's clock and the gateway's. */
export interface Dates {
  readonly nowMs: number;
  /** The date by the clock that keys are made by, which is the gateway's where ours is late or wrong. It is never too late. */
  readonly judgedMs: number;
  /** The date by the later clock, by which a record is made. */
  readonly laterMs: number;
  /** The date by the earlier clock, by which a record ends; null where the gateway's was not measured, or the two contradict each other. */
  readonly surelyMs: number | null;
  /** How far the clocks are apart; null where that was not measured, or where one of them is absurd. */
  readonly differMs: number | null;
}

/** `skewMs`: how far the gateway's clock is ahead of this machine's; null where that was not measured. */
export function datesOf(nowMs: number, skewMs: number | null): Dates {
  const apartMs = Math.abs(skewMs ?? 0);
  const isMeasured = skewMs !== null && apartMs <= MAX_APART_MS;
  return {
    nowMs,
    // The dates of the gateway are whole seconds.
    judgedMs:
      apartMs <= CLOCKS_DIFFER_MS ? nowMs : nowMs + judgedAheadMs(skewMs) - CLOCKS_DIFFER_MS,
    laterMs: nowMs + Math.max(0, skewMs ?? 0),
    surelyMs: skewMs !== null && apartMs <= AGREE_MS ? nowMs + Math.min(0, skewMs) : null,
    differMs: isMeasured ? Math.ceil(apartMs) : null,
  };
}

/** How much later it is than by this machine's clock, for moments that clients name. The gateway's clock counts where ours is late or wrong. */
export function judgedAheadMs(skewMs: number | null): number {
  return skewMs !== null && (skewMs > 0 || skewMs < -AGREE_MS) ? skewMs : 0;
}

/**
 * R, were a loss to be fixed now: no key that was used before has a later time, whichever process judged it. `mostApartMs`: the
 * furthest that a process which took orders was from the gateway's clock. Null where the gateway's clock was not measured.
 */
export function lossUntilOf({ laterMs, differMs }: Dates, mostApartMs: number): number | null {
  if (differMs === null) return null;
  return Math.ceil(laterMs + Math.max(differMs, mostApartMs) + CLOCKS_DIFFER_MS);
}

/** A loss is over a day after R; where R was never fixed two days later, since the clock that found it may be wrong. */
export function lossEndOf(lostAtMs: number, untilMs: number | null): number {
  return (untilMs ?? lostAtMs + 2 * DAY_MS) + DAY_MS + KEY_AHEAD_MS;
}

/** `untilMs`: R; null where it is not fixed yet. */
export function isMadeAfterGap(madeMs: number | null, untilMs: number | null): boolean {
  return madeMs !== null && untilMs !== null && madeMs > untilMs + KEY_AHEAD_MS;
}

/** Says for operators which keys are refused. */
export function gapReason(what: string, untilMs: number | null): string {
  const keys =
    untilMs === null
      ? 'keys that they do not know are refused until the gateway has answered once'
      : `keys made before ${new Date(untilMs + KEY_AHEAD_MS).toISOString()} that they do not know are refused, others are taken`;
  return `${what} may be incomplete: ${keys} (trading-graph orders --help)`;
}
