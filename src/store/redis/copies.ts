import { RecordsUnavailableError } from '../order-records.ts';

/** It is written, and a replica of Redis that does not have it may be promoted. */
export class NotCopiedError extends RecordsUnavailableError {}

export type Copies = ReturnType<typeof watchCopies>;

/** For so long a write that was not copied in time says more than the number of connected replicas. */
const LATE_MS = 5_000;
const UNTOLD = 'Redis does not tell how many replicas it has (it refuses INFO): set REDIS_REPLICAS';

/**
 * How many replicas of Redis must have what is written: one that a failover promotes without it would have an order sent again.
 * `setting`: null for the most that were ever seen connected, which Redis keeps.
 */
export function watchCopies(setting: number | null, uptimeMs: () => number) {
  let most = 0;
  let connected = 0;
  let lateAtMs = Number.NEGATIVE_INFINITY;
  const wanted = () => setting ?? most;
  return {
    wanted,
    /** What each script is told. */
    arguments: (): (string | number)[] => [setting ?? '', most],
    /** Called with what a heartbeat was told; below 0 connected where Redis does not tell. */
    told(connectedNow: number, mostNow: number): void {
      connected = connectedNow;
      most = Math.max(most, mostNow);
    },
    late(): void {
      lateAtMs = uptimeMs();
    },
    /** Why orders are refused; null while they are not. */
    reason(): string | null {
      if (setting === 0) return null;
      if (connected < 0 && setting === null) return UNTOLD;
      const isShort = connected >= 0 && connected < wanted();
      if (isShort) return shortOf(connected, wanted());
      return uptimeMs() - lateAtMs < LATE_MS ? 'replicas of Redis fall behind' : null;
    },
  };
}

/** Says for operators and clients what is missing. */
export function shortOf(connected: number, wanted: number): string {
  if (connected < 0) return UNTOLD;
  return `${connected} of ${wanted} replicas of Redis are connected, and a failover would forget orders (REDIS_REPLICAS)`;
}
