import type { Operation } from './operation.ts';

/** The number of fields: `cost` is the estimate before the run, `fields` the count. */
export interface RunCost {
  readonly cost: number;
  readonly fields: number;
}

/** A context that knows what its execution has read. */
export interface ReadingContext {
  /** The `extensions` of a result. */
  receipt(run: RunCost): Readonly<Record<string, unknown>>;
}

/** The context that the resolvers of one operation read with. */
export interface OperationContext extends ReadingContext {
  readonly operation: Operation;
  /** Returns a function that makes the context of each event. A subscription outlives the context of its operation. */
  eventContexts(): () => ReadingContext;
}
