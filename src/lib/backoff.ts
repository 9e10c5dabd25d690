interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
}

/** Exponential backoff with jitter, which keeps clients from retrying in step. The jitter never shortens a Retry-After. */
export function backoffMs(
  failures: number,
  { baseMs, maxMs, random }: BackoffOptions,
  retryAfterSeconds: number | null = null,
): number {
  const ceilingMs = Math.min(maxMs, baseMs * 2 ** failures);
  const ownMs = (ceilingMs / 2) * (1 + random());
  if (retryAfterSeconds === null) return ownMs;
  return Math.max(ownMs, retryAfterSeconds * 1000 + random() * baseMs);
}
