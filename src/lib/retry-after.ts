// A longer wait is the mistake of a wrong clock, not a plan.
const LONGEST_SECONDS = 3_600;

/** Parses `Retry-After` as seconds or as a date; null where it is absent or invalid. */
export function retryAfterSeconds(header: string | undefined, nowMs: number): number | null {
  const value = header?.trim();
  if (!value) return null;
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : Math.ceil((Date.parse(value) - nowMs) / 1000);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), LONGEST_SECONDS);
}
