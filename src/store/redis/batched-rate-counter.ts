import type { Clock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import type { RateCounter, RateRule, RateState } from '../rate-counters.ts';

export interface BatchedRateCounterOptions {
  readonly shared: RateCounter;
  readonly rule: RateRule;
  readonly clock: Clock;
}

interface Window {
  isOver: boolean;
  uncounted: number;
  remaining: number;
  endsAtMs: number;
}

const MAX_KEYS = 100_000;

/**
 * Counts in a store that other replicas share, a batch at a time: a call of the store costs more than
 * most of the requests that it counts. So each replica may exceed a limit by a batch. The last points
 * before the limit are shared one by one, so that the remaining count that a client is sent is right.
 */
export function createBatchedRateCounter({
  shared,
  rule: { limit, windowSeconds, batch = 1 },
  clock,
}: BatchedRateCounterOptions): RateCounter & { readonly byteSize: number } {
  const windows = growingLru<string, Window>({ maxEntries: MAX_KEYS, entryBytes: 140 });

  async function share(key: string, window: Window): Promise<RateState> {
    const points = window.uncounted;
    window.uncounted = 0;
    const state = await shared.take(key, points);
    window.isOver = state.isOver;
    window.remaining = state.remaining;
    window.endsAtMs = clock.now() + state.resetMs;
    return state;
  }

  return {
    limit,
    windowSeconds,
    get byteSize() {
      return windows.calculatedSize;
    },
    take(key, points = 1) {
      const nowMs = clock.now();
      let window = windows.get(key);
      if (window === undefined || nowMs >= window.endsAtMs) {
        const endsAtMs = nowMs + windowSeconds * 1000;
        window = { isOver: false, uncounted: 0, remaining: limit, endsAtMs };
        windows.set(key, window);
      }
      // A flood of refused requests is no flood of calls.
      if (window.isOver) return { isOver: true, remaining: 0, resetMs: window.endsAtMs - nowMs };
      window.uncounted += points;
      const remaining = window.remaining - window.uncounted;
      if (Math.abs(window.uncounted) >= batch || remaining < batch) return share(key, window);
      return { isOver: false, remaining, resetMs: window.endsAtMs - nowMs };
    },
  };
}
