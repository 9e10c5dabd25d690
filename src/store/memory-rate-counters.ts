import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateCounter, RateCounters, RateRule, RateState } from './rate-counters.ts';

export interface MemoryRateCountersOptions {
  /** Of each counter. Beyond it the key that was used least lately is forgotten: a flood of keys costs no memory. */
  readonly maxKeys?: number;
}

const MAX_KEYS = 100_000;

/** Counters of this process alone. */
export function createMemoryRateCounters({
  maxKeys = MAX_KEYS,
}: MemoryRateCountersOptions = {}): RateCounters {
  return {
    counter: (name, rule) => createMemoryCounter(name, rule, maxKeys),
    trouble: () => null,
    close: () => {},
  };
}

function createMemoryCounter(
  name: string,
  { limit, windowSeconds }: RateRule,
  maxKeys: number,
): RateCounter {
  const limiter = new RateLimiterMemory({
    keyPrefix: name,
    points: limit,
    duration: windowSeconds,
  });
  // The library lets go of a key when its window ends; until then nothing bounds them.
  const keys = new LRUCache<string, true>({
    max: maxKeys,
    dispose: (_, key, reason) => {
      if (reason === 'evict') void limiter.delete(key);
    },
  });
  return {
    limit,
    windowSeconds,
    take(key) {
      keys.set(key, true);
      return limiter.consume(key).then(toState, toStateWhenOver);
    },
  };
}

export function toState({ remainingPoints, msBeforeNext }: RateLimiterRes): RateState {
  return { isOver: false, remaining: remainingPoints, resetMs: msBeforeNext };
}

/** The library rejects where a limit is passed, and where it fails. */
export function toStateWhenOver(reason: unknown): RateState {
  if (reason instanceof RateLimiterRes) return { ...toState(reason), isOver: true };
  throw reason;
}
