export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  /** 0 up to 1. */
  readonly random: () => number;
}

/**
 * How long to wait after so many failures in a row: doubling, the upper half of it by chance.
 * Without chance, all who failed together would come back together.
 */
export function backoffMs(failures: number, { baseMs, maxMs, random }: BackoffOptions): number {
  const ceilingMs = Math.min(maxMs, baseMs * 2 ** failures);
  return (ceilingMs / 2) * (1 + random());
}
