import type { CatalogAnswer } from '../../gateway/operations/get-all-tickers.ts';

/** A copy's age when it was requested, and the times that follow from it. */
export type CopyTimes = Readonly<ReturnType<typeof timesOf>>;

export interface FreshnessOptions {
  readonly maxAgeMs: number;
  readonly staleMs: number;
  /** The gateway's date at a time of the clock, as far as it is known. */
  readonly gatewayDate: (ms: number) => number;
}

// The gateway promises an hour. A `max-age` below a minute counts as a minute, so that 4 MB are not fetched every second.
const MIN_LIFE_MS = 60_000;
// A higher age counts as this one, which is too old in any case and fits into GraphQL's Int.
const MAX_AGE_SECONDS = 2_000_000_000;
// A copy that was too old when received, or provisional, is fetched again after this time.
const ASK_AGAIN_MS = 60_000;

/**
 * The age calculation of HTTP caching, without its other rules: with `no-store` each request would fetch the catalog.
 * `isProvisional`: the answer was empty or mostly broken. It is served only briefly, and only if there is no better copy.
 * `isRefresh`: the answer replaces a copy that is still served.
 */
export function timesOf(
  { headers, sentAtMs, receivedAtMs }: CatalogAnswer,
  { maxAgeMs, staleMs, gatewayDate }: FreshnessOptions,
  { isProvisional, isRefresh }: { readonly isProvisional: boolean; readonly isRefresh: boolean },
) {
  const headerAgeMs = (ageSeconds(headers.age) ?? 0) * 1000;
  const dateAgeMs = ageByDateMs(headers.date, gatewayDate(sentAtMs));
  const initialAgeMs = Math.min(MAX_AGE_SECONDS * 1000, Math.max(headerAgeMs, dateAgeMs));
  const lifeMs = lifeMsOf(maxAgeMs, headers);
  const restMs = lifeMs - initialAgeMs - (receivedAtMs - sentAtMs);
  // The gateway's own cache has no newer copy, so this one is served and marked stale from the start.
  const isTooOld = restMs <= 0;
  const usableMs = isTooOld ? ASK_AGAIN_MS : restMs;
  const ttlMs = isProvisional ? Math.min(usableMs, ASK_AGAIN_MS) : usableMs;
  const expiresMs = receivedAtMs + ttlMs;
  const lastFifthMs = expiresMs - lifeMs / 5;
  // A refresh can bring a copy that is as old as the last one. Otherwise it would start the next refresh at once.
  const isFruitless = isRefresh && lastFifthMs <= receivedAtMs;
  const refreshFromMs = isFruitless ? receivedAtMs + ASK_AGAIN_MS : lastFifthMs;
  return {
    /** When the call was sent that brought or confirmed the copy. The gateway may have made its answer at that moment. */
    sentAtMs,
    initialAgeMs,
    /** From this time on the copy is marked stale. */
    staleFromMs: isTooOld ? receivedAtMs : expiresMs,
    /** From this time on a read starts a background refresh (stale-while-revalidate). */
    refreshFromMs: isTooOld || isProvisional ? expiresMs : refreshFromMs,
    /** Until this time the copy is served without waiting. After it a reader waits for a new copy. */
    expiresMs,
    /** While the gateway fails, the copy is served until this time (stale-if-error). */
    servesUntilMs: isProvisional ? expiresMs : expiresMs + staleMs,
  };
}

/** The maximum age of a copy with these headers. */
export function lifeMsOf(maxAgeMs: number, headers: CatalogAnswer['headers']): number {
  return Math.min(maxAgeMs, Math.max(MIN_LIFE_MS, grantedLifeMs(headers['cache-control'])));
}

/** The first value of an `Age` header, which can have a value of each cache on the way; null if it is not a number. */
export function ageSeconds(age: string | undefined): number | null {
  const [seconds] = /^\s*\d+\s*(?=,|$)/.exec(age ?? '') ?? [];
  return seconds === undefined ? null : Number(seconds);
}

// `Date` counts whole seconds, so a smaller difference is not an age.
const DATE_RESOLUTION_MS = 1000;

function ageByDateMs(date: string | undefined, sentDateMs: number): number {
  // NaN without a valid date. No comparison holds for NaN.
  const ageMs = sentDateMs - Date.parse(date ?? '');
  return ageMs >= DATE_RESOLUTION_MS ? ageMs : 0;
}

/** `s-maxage` is for shared caches such as this one, and takes precedence over `max-age`. */
function grantedLifeMs(cacheControl = ''): number {
  const secondsOf = (name: string) =>
    new RegExp(`(?:^|,)\\s*${name}\\s*=\\s*"?(\\d+)"?\\s*(?:,|$)`, 'i').exec(cacheControl)?.[1];
  return Number(secondsOf('s-maxage') ?? secondsOf('max-age') ?? Infinity) * 1000;
}
