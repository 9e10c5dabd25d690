import type { AnswerHeaders } from '../../gateway/answers.ts';

export interface Freshness {
  /** The answer's age when it was received. */
  readonly ageMs: number;
  /** The age at which the answer is no longer fresh. */
  readonly lifeMs: number;
}

// The interface grants an hour. A shorter `max-age` is honoured down to a minute, or 4 MB would be fetched every second.
const SHORTEST_LIFE_MS = 60_000;

/** The age arithmetic of HTTP caching, without its other rules: `no-store` would mean a fetch per request. */
export function freshnessOf(
  headers: AnswerHeaders,
  receivedAtMs: number,
  delayMs: number,
  maxAgeMs: number,
): Freshness {
  const grantedMs = grantedLifeMs(headers['cache-control']);
  return {
    ageMs: Math.max(ageByHeaderMs(headers.age, delayMs), ageByDateMs(headers.date, receivedAtMs)),
    lifeMs: Math.min(maxAgeMs, Math.max(SHORTEST_LIFE_MS, grantedMs)),
  };
}

/** `Age` was true when the answer was sent; the transfer time is added. */
function ageByHeaderMs(age: string | undefined, delayMs: number): number {
  const seconds = wholeSeconds(age);
  return seconds === null ? 0 : seconds * 1000 + Math.max(0, delayMs);
}

// `Date` counts whole seconds, so less than one is no age.
const DATE_RESOLUTION_MS = 1000;

function ageByDateMs(date: string | undefined, receivedAtMs: number): number {
  const sinceMs = receivedAtMs - Date.parse(date ?? '');
  return sinceMs >= DATE_RESOLUTION_MS ? sinceMs : 0;
}

/** `s-maxage` is for shared caches, which this is, and takes precedence over `max-age`. */
function grantedLifeMs(cacheControl: string | undefined): number {
  const directives = new Map<string, string>();
  for (const directive of (cacheControl ?? '').split(',')) {
    const [name = '', value = ''] = directive.split('=', 2);
    directives.set(name.trim().toLowerCase(), value.trim().replaceAll('"', ''));
  }
  const seconds =
    wholeSeconds(directives.get('s-maxage')) ?? wholeSeconds(directives.get('max-age'));
  return seconds === null ? Infinity : seconds * 1000;
}

function wholeSeconds(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null;
}
