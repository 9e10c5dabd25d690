const BASE_MS = 1_000;
/** The longest pause between two attempts. */
export const BACKOFF_CAP_MS = 30_000;

/**
 * Exponential back-off with full jitter, so that clients that failed together do not retry in step; the server's
 * `retryAfter` is the minimum.
 */
export function backoffMs(failures: number, random: () => number, floorSeconds = 0): number {
  const ceilingMs = Math.min(BACKOFF_CAP_MS, BASE_MS * 2 ** Math.min(failures, 10));
  return Math.max(0, floorSeconds) * 1_000 + random() * ceilingMs;
}
