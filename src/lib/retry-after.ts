// A longer wait than this is a mistake of somebody's clock, not a plan.
const LONGEST_SECONDS = 3_600;

/** `Retry-After` in either of its forms, seconds or a date; null where there is none to read. */
export function retryAfterSeconds(header: string | undefined, nowMs: number): number | null {
  const value = header?.trim();
  if (!value) return null;
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : Math.ceil((Date.parse(value) - nowMs) / 1000);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), LONGEST_SECONDS);
}
