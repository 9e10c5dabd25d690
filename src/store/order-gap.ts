/** The times of a key: its client's word, and the clocks of the replica that was asked. */
export interface KeyTime {
  /** When the key was made; null where the client does not say it. */
  readonly madeMs: number | null;
  /** The later of our date and the gateway's; null before that was measured, or where it is absurd. */
  readonly laterMs: number | null;
  /** How far the two clocks are apart, whichever is ahead. */
  readonly differMs: number;
  /** How old the key is at least; null or left out where its client does not say. */
  readonly ageMs?: number | null;
}

/**
 * The furthest that a client's clock may be ahead. An order is sent only where its key was made, by the client's word, at most
 * so long after it: a key that was made later than this after a gap of the records has no order before the gap.
 */
export const KEY_AHEAD_MS = 60_000;
/** Between the replicas of one service, and between a server and a client that knows its dates. */
export const CLOCKS_DIFFER_MS = 2_000;

/** Two clocks that are further apart contradict each other. */
const AGREE_MS = 60_000;
/** Two clocks that are further apart say nothing of each other: one of them is absurd, and nobody knows which. */
export const MAX_APART_MS = 10 * 60_000;

/** The most by which a key may be older than its client's word says: that may be ahead, and so may a clock that was set right since. */
export const KEY_ERROR_MS = KEY_AHEAD_MS + MAX_APART_MS + AGREE_MS + 2 * CLOCKS_DIFFER_MS;

/**
 * The dates by this machine's clock and the gateway's, which is ahead by so much, null where that was not measured. A record is made by
 * the later of them, and ages by the earlier, else one of them would end it early; while they contradict each other no record ends.
 */
export function datesOf(nowMs: number, skewMs: number | null) {
  const earlierMs = nowMs + Math.min(0, skewMs ?? 0);
  const isSure = skewMs !== null && Math.abs(skewMs) <= AGREE_MS;
  return {
    earlierMs,
    laterMs: nowMs + Math.max(0, skewMs ?? 0),
    surelyMs: isSure ? earlierMs : null,
  };
}

/** How much later it is than by this machine's clock, for moments that clients name: by the gateway's where ours is behind, or wrong. */
export function judgedAheadMs(skewMs: number | null): number {
  return skewMs !== null && (skewMs > 0 || skewMs < -AGREE_MS) ? skewMs : 0;
}

/** `untilMs`: when the gap ended, by the later of the clocks; null where that is not known yet. */
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
