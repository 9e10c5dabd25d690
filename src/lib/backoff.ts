interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
}

/**
 * Exponential backoff, with jitter in the upper half. Without jitter, clients that failed together
 * would retry in step.
 */
export function backoffMs(failures: number, { baseMs, maxMs, random }: BackoffOptions): number {
  const ceilingMs = Math.min(maxMs, baseMs * 2 ** failures);
  return (ceilingMs / 2) * (1 + random());
}
