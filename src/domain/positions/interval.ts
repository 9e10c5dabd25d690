import { InputError } from '../input-error.ts';

const LONGEST_INTERVAL_MS = 15_000;

/** The least time between two events that a client requests; 0 where it requests none. */
export function readIntervalMs(intervalMs: number | null | undefined): number {
  if (intervalMs === null || intervalMs === undefined) return 0;
  if (!(intervalMs >= 1 && intervalMs <= LONGEST_INTERVAL_MS)) {
    throw new InputError('intervalMs', `intervalMs must be between 1 and ${LONGEST_INTERVAL_MS}.`);
  }
  return intervalMs;
}
