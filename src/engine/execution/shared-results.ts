import type { ExecutionResult, OperationDefinitionNode } from 'graphql';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { PreparedOperation } from '../documents/documents.ts';
import type { JsonText } from '../operation/result-sink.ts';

export interface MadeResult {
  readonly result: ExecutionResult;
  /** True when it may be sent to other subscribers. */
  readonly isShared: boolean;
  /** The result as JSON, memoized on first use. */
  text: JsonText | null;
}

/** The operation of a subscriber, as far as sharing depends on it. */
type Shared = Pick<PreparedOperation, 'node' | 'sharedUse'>;

interface RecentResult {
  readonly event: object;
  readonly node: OperationDefinitionNode;
  /** A promise while a large one is being computed. */
  readonly made: MaybePromise<MadeResult>;
}

// An event reaches all subscribers in one turn: hardly more than the latest result is requested again.
const MAX_KEPT = 32;

/** The latest results by event and operation, in a small ring: a WeakMap of events would burden the collector. */
export function createSharedResults() {
  const ring: (RecentResult | null)[] = new Array<RecentResult | null>(MAX_KEPT).fill(null);
  let newest = 0;

  return {
    keep(event: object, prepared: Shared, made: MaybePromise<MadeResult>): void {
      if (!mayShare(prepared) || (!(made instanceof Promise) && !made.isShared)) return;
      // A later event may be the same number, or nothing again: it is another event all the same.
      if (Object(event) !== event) return;
      newest = (newest + 1) % MAX_KEPT;
      ring[newest] = { event, node: prepared.node, made };
    },
    find(event: object, prepared: Shared): MaybePromise<MadeResult> | null {
      if (!mayShare(prepared)) return null;
      for (let back = 0; back < MAX_KEPT; back += 1) {
        const kept = ring[(newest - back + MAX_KEPT) % MAX_KEPT];
        // The ring fills in order: behind an empty slot there is nothing.
        if (!kept) return null;
        if (kept.event === event && kept.node === prepared.node) return kept.made;
      }
      return null;
    },
  };
}

/** True as long as no run has read what is not the account's, whatever the marks say. */
export function mayShare({ sharedUse }: Shared): boolean {
  return sharedUse !== null && !sharedUse.isBarred;
}
