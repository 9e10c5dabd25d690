import type { CatalogVersion } from './catalog-version.ts';
import type { Freshness } from './freshness.ts';

/** A version as one answer brought it, with the times that follow from its age. */
export interface CatalogCopy extends CopyTimes {
  readonly version: CatalogVersion;
  /** Rows of the answer that were left out. */
  readonly skipped: number;
  readonly etag: string | null;
  readonly receivedAtMs: number;
  readonly initialAgeMs: number;
}

export interface CopyTimes {
  /** From this time on the copy is marked stale. */
  readonly staleFromMs: number;
  /** From this time on a read starts a background refresh (stale-while-revalidate). */
  readonly refreshFromMs: number;
  /** Until this time the copy is served without waiting; then a reader waits for a new one. */
  readonly expiresMs: number;
  /** While the gateway fails, the copy is served until this time (stale-if-error). */
  readonly servesUntilMs: number;
}

export interface CopyCircumstances {
  readonly receivedAtMs: number;
  readonly staleMs: number;
  /** The answer was empty or mostly broken: it is served only for lack of a better one, and briefly. */
  readonly isProvisional: boolean;
  /** The copy came from a background refresh. */
  readonly isRefresh: boolean;
}

// A copy that was too old when received, or provisional, is fetched again after this time.
const ASK_AGAIN_MS = 60_000;

export function timesOf(
  { ageMs, lifeMs }: Freshness,
  { receivedAtMs, staleMs, isProvisional, isRefresh }: CopyCircumstances,
): CopyTimes {
  const restMs = lifeMs - ageMs;
  if (restMs <= 0) {
    // The gateway's own cache has nothing younger, so the copy is served, marked stale from the start.
    const expiresMs = receivedAtMs + ASK_AGAIN_MS;
    const servesUntilMs = isProvisional ? expiresMs : expiresMs + staleMs;
    return { staleFromMs: receivedAtMs, refreshFromMs: expiresMs, expiresMs, servesUntilMs };
  }
  if (isProvisional) {
    const expiresMs = receivedAtMs + Math.min(restMs, ASK_AGAIN_MS);
    return {
      staleFromMs: expiresMs,
      refreshFromMs: expiresMs,
      expiresMs,
      servesUntilMs: expiresMs,
    };
  }
  const expiresMs = receivedAtMs + restMs;
  const lastFifthMs = expiresMs - lifeMs / 5;
  // A refresh that brought a copy as old as the last would otherwise start the next one immediately.
  const isFruitless = isRefresh && lastFifthMs <= receivedAtMs;
  return {
    staleFromMs: expiresMs,
    refreshFromMs: isFruitless ? receivedAtMs + ASK_AGAIN_MS : lastFifthMs,
    expiresMs,
    servesUntilMs: expiresMs + staleMs,
  };
}
