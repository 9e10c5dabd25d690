import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { Operation } from './operation.ts';

/** The number of fields: `cost` is the estimate before the run, `fields` the count. */
export interface RunCost {
  readonly cost: number;
  readonly fields: number;
}

/** Determines which results are equal, so that one of them can be sent to others. */
export interface Validity {
  /** Identifies the content that fields read, and the group of viewers who share it. */
  readonly version: string;
  /** Distinguishes copies of the same content that were fetched at different times. */
  readonly copy: string;
  readonly freshSeconds: number;
}

/** A context that records which kinds of data the fields have read. */
export interface ReadingContext {
  /** True after a field has read a value of the viewer or of one request, even if the schema marks the field as shared. */
  readonly isPersonal: boolean;
  /** True after a field has read data that differs between the subscribers of one account. */
  readonly readsShared: boolean;
  /** The `extensions` of a result. */
  receipt(run: RunCost): Readonly<Record<string, unknown>>;
}

/** The context that the resolvers of one operation read with. */
export interface OperationContext extends ReadingContext {
  readonly operation: Operation;
  /** Proves the viewer before anything cached is sent. Throws or rejects if it cannot; execution then reports the reason. */
  validity(): MaybePromise<Validity>;
  /** Returns a function that makes the context of each event. A subscription outlives the context of its operation. */
  eventContexts(): () => ReadingContext;
}
