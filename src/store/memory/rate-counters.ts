import type { LRUCache } from 'lru-cache';
import { growingLru } from '../../lib/growing-lru.ts';
import type { RateCounter, RateCounters, RateRule } from '../rate-counters.ts';

export interface MemoryRateCountersOptions {
  /** The most keys of each counter. Beyond it the least recently used is forgotten, so a flood costs no memory. */
  readonly maxKeys?: number;
  /** Milliseconds of a monotonic clock. */
  readonly uptimeMs?: () => number;
}

const MAX_KEYS = 100_000;

/** Counters of this process alone. They answer synchronously: each request passes here. */
export function createMemoryRateCounters({
  maxKeys = MAX_KEYS,
  uptimeMs = () => performance.now(),
}: MemoryRateCountersOptions = {}): RateCounters {
  const counters: LRUCache<string, Window>[] = [];
  return {
    counter(_name, rule) {
      const windows = growingLru<string, Window>({ maxEntries: maxKeys, entryBytes: 140 });
      counters.push(windows);
      return createMemoryCounter(rule, windows, uptimeMs);
    },
    get byteSize() {
      return counters.reduce((sum, { calculatedSize }) => sum + calculatedSize, 0);
    },
    degradedReason: () => null,
    close: () => {},
  };
}

interface Window {
  count: number;
  endsAtMs: number;
}

function createMemoryCounter(
  { limit, windowSeconds }: RateRule,
  windows: LRUCache<string, Window>,
  uptimeMs: () => number,
): RateCounter {
  return {
    limit,
    windowSeconds,
    take(key, points = 1) {
      const nowMs = uptimeMs();
      let window = windows.get(key);
      if (!window) {
        window = { count: 0, endsAtMs: 0 };
        windows.set(key, window);
      }
      if (nowMs >= window.endsAtMs) {
        window.count = 0;
        window.endsAtMs = nowMs + windowSeconds * 1000;
      }
      window.count = Math.max(0, window.count + points);
      return {
        isOver: window.count > limit,
        remaining: Math.max(0, limit - window.count),
        // The sum of fractions may be a little more than the window.
        resetMs: Math.round(window.endsAtMs - nowMs),
      };
    },
  };
}
