import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { Operation } from './operation.ts';

export interface RunCost {
  readonly cost: number;
  readonly fields: number;
}

/** The content and the audience for which the fields that an operation reads are the same. */
export interface Validity {
  /** Names the content, and who shares it. */
  readonly version: string;
  /** Names the copy of that content as well. */
  readonly copy: string;
  readonly freshSeconds: number;
}

/** A context that records what the fields have read. */
export interface ReadingContext {
  /** True once they have read a value of the viewer or of one request, even against their marks. */
  readonly isPersonal: boolean;
  /** True once they have read what differs between the subscribers to one account. */
  readonly readsShared: boolean;
  /** The `extensions` of a result. */
  receipt(run: RunCost): Readonly<Record<string, unknown>>;
}

/** The context that the resolvers of one operation read with. */
export interface OperationContext extends ReadingContext {
  readonly operation: Operation;
  /** Proves the viewer before anything cached is sent; throws or rejects where execution reports why. */
  validity(): MaybePromise<Validity>;
  /** Makes the contexts of a subscription's events, which outlive the operation's own. */
  eventContexts(): () => ReadingContext;
}
