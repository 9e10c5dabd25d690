import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { Operation } from './operation.ts';

export interface RunCost {
  readonly cost: number;
  readonly fields: number;
}

/** Identifies the content and the audience that a result can be shared for. */
export interface Validity {
  /** Identifies the content, and the group that shares it. */
  readonly version: string;
  /** Identifies the copy of that content as well. */
  readonly copy: string;
  readonly freshSeconds: number;
}

/** A context that records which kinds of data the fields have read. */
export interface ReadingContext {
  /** True after a field has read a value of the viewer or of one request, even against its mark. */
  readonly isPersonal: boolean;
  /** True after a field has read data that differs between the subscribers of one account. */
  readonly readsShared: boolean;
  /** The `extensions` of a result. */
  receipt(run: RunCost): Readonly<Record<string, unknown>>;
}

/** The context that the resolvers of one operation read with. */
export interface OperationContext extends ReadingContext {
  readonly operation: Operation;
  /** Proves the viewer before anything cached is sent. Throws or rejects if execution reports the reason. */
  validity(): MaybePromise<Validity>;
  /** Makes the contexts of a subscription's events, which outlive the context of the operation. */
  eventContexts(): () => ReadingContext;
}
