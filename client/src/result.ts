import type { TradingGraphError } from './errors.ts';

/** An answer: data, and errors where parts of it failed. */
export interface Result<Data> {
  /** Null where the whole request failed. */
  readonly data: Data | null;
  /** Empty where all is well. */
  readonly errors: readonly TradingGraphError[];
}
