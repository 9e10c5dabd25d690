import type { AnswerHeaders } from '../../gateway/answers.ts';

export interface Freshness {
  /** How old the answer was when it came in. */
  readonly ageMs: number;
  /** At which age it ends. */
  readonly lifeMs: number;
}

// The interface grants an hour. A gateway that says less is heeded, but 4 MB are not fetched every second.
const SHORTEST_LIFE_MS = 60_000;

/** The age arithmetic of HTTP caching, and of its rules nothing else: `no-store` would mean a fetch per request. */
export function freshnessOf(
  headers: AnswerHeaders,
  arrivedMs: number,
  delayMs: number,
  maxAgeMs: number,
): Freshness {
  const grantedMs = grantedLifeMs(headers['cache-control']);
  return {
    ageMs: Math.max(ageByHeaderMs(headers.age, delayMs), ageByDateMs(headers.date, arrivedMs)),
    lifeMs: Math.min(maxAgeMs, Math.max(SHORTEST_LIFE_MS, grantedMs)),
  };
}

/** `Age` was true when the answer left; it grew on the way. */
function ageByHeaderMs(age: string | undefined, delayMs: number): number {
  const seconds = wholeSeconds(age);
  return seconds === null ? 0 : seconds * 1000 + Math.max(0, delayMs);
}

// `Date` counts whole seconds: less than one is no age.
const DATE_RESOLUTION_MS = 1000;

function ageByDateMs(date: string | undefined, arrivedMs: number): number {
  const sinceMs = arrivedMs - Date.parse(date ?? '');
  return sinceMs >= DATE_RESOLUTION_MS ? sinceMs : 0;
}

/** `s-maxage` speaks to shared caches, which this is, and counts before `max-age`. */
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
