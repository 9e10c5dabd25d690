import type { CatalogVersion } from './catalog-version.ts';
import type { Freshness } from './freshness.ts';

/** A version as it came in one answer, with the times that follow from it. */
export interface CatalogCopy extends CopyTimes {
  readonly version: CatalogVersion;
  /** Rows of the answer that were left out. */
  readonly skipped: number;
  readonly etag: string | null;
  readonly arrivedMs: number;
  readonly ageOnArrivalMs: number;
}

export interface CopyTimes {
  /** From then on it is marked stale. */
  readonly staleFromMs: number;
  /** From then on a reader may set off a refresh without waiting for it. */
  readonly refreshFromMs: number;
  /** Until then it serves as it is; then a reader waits for another. */
  readonly expiresMs: number;
  /** While the gateway fails it serves until then. */
  readonly servesUntilMs: number;
}

export interface CopyCircumstances {
  readonly arrivedMs: number;
  readonly staleMs: number;
  /** Empty or mostly broken: served for want of a better one, and for a short while. */
  readonly isProvisional: boolean;
  /** It came of a background refresh. */
  readonly isRefresh: boolean;
}

// How soon one that is too old, or no good, is asked for again.
const ASK_AGAIN_MS = 60_000;

export function timesOf(
  { ageMs, lifeMs }: Freshness,
  { arrivedMs, staleMs, isProvisional, isRefresh }: CopyCircumstances,
): CopyTimes {
  const restMs = lifeMs - ageMs;
  if (restMs <= 0) {
    // The gateway's own cache has nothing younger. It is served, and said to be stale from the start.
    const expiresMs = arrivedMs + ASK_AGAIN_MS;
    const servesUntilMs = isProvisional ? expiresMs : expiresMs + staleMs;
    return { staleFromMs: arrivedMs, refreshFromMs: expiresMs, expiresMs, servesUntilMs };
  }
  if (isProvisional) {
    const expiresMs = arrivedMs + Math.min(restMs, ASK_AGAIN_MS);
    return {
      staleFromMs: expiresMs,
      refreshFromMs: expiresMs,
      expiresMs,
      servesUntilMs: expiresMs,
    };
  }
  const expiresMs = arrivedMs + restMs;
  const lastFifthMs = expiresMs - lifeMs / 5;
  // A refresh that brought a copy as old as the last would otherwise set off the next at once.
  const isFruitless = isRefresh && lastFifthMs <= arrivedMs;
  return {
    staleFromMs: expiresMs,
    refreshFromMs: isFruitless ? arrivedMs + ASK_AGAIN_MS : lastFifthMs,
    expiresMs,
    servesUntilMs: expiresMs + staleMs,
  };
}
