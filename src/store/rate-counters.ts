import { after, type Eventually } from '../lib/eventually.ts';

/** The state of a key after it was counted. */
export interface RateState {
  readonly isOver: boolean;
  readonly remaining: number;
  /** The time until its window is over. */
  readonly resetMs: number;
}

/** Counts how often keys are used within a window; each key's window begins with its first use. */
export interface RateCounter {
  readonly limit: number;
  readonly windowSeconds: number;
  /** Synchronous where the count is kept in this process. `points`: how much is counted, 1 if left out, below 0 to give back. */
  take(key: string, points?: number): Eventually<RateState>;
}

/** The share of a limit that is a batch, where a limit need not be exact. */
export const BATCH_SHARE = 0.01;

export interface RateRule {
  readonly limit: number;
  readonly windowSeconds: number;
  /** The points that a replica may count before the others learn of them; without it, each is shared at once. */
  readonly batch?: number;
}

/** Opens counters: in this process, or in a store that several replicas share. */
export interface RateCounters {
  /** `name` keeps the keys of different counters apart. */
  counter(name: string, rule: RateRule): RateCounter;
  /** The estimated size of the counts that this process holds. */
  readonly byteSize: number;
  /** The degraded reason, or null. */
  degradedReason(): string | null;
  close(): void;
}

/** Moves a point to the key that it turns out to belong to, unless that is at its limit. */
export function movePoint(counter: RateCounter, from: string, to: string): void {
  void after(counter.take(to), ({ isOver }) => isOver || counter.take(from, -1));
}
