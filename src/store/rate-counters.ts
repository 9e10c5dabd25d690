/** How a key stands after it was counted. */
export interface RateState {
  readonly isOver: boolean;
  readonly remaining: number;
  /** Until it counts from nothing again. */
  readonly resetMs: number;
}

/** Counts how often keys are used within a window; each key's window begins with its first use. */
export interface RateCounter {
  readonly limit: number;
  readonly windowSeconds: number;
  /** At once where the count is kept in this process. `points`: how much is counted, 1 if left out. */
  take(key: string, points?: number): RateState | Promise<RateState>;
}

export interface RateRule {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** Where counters are kept: in this process, or in what several replicas share. */
export interface RateCounters {
  /** `name` keeps the keys of different counters apart. */
  counter(name: string, rule: RateRule): RateCounter;
  /** What is not as it should be, or null. */
  degradedReason(): string | null;
  close(): void;
}
