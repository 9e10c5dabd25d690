import type { TradingGraphError } from './errors.ts';

/** An answer: data, and errors of the parts that failed. */
export interface Result<Data> {
  /** Null if the whole request failed. */
  readonly data: Data | null;
  /** Empty without a failure. */
  readonly errors: readonly TradingGraphError[];
}
