import type { ExecutionResult, OperationDefinitionNode } from 'graphql';
import type { JsonText } from '../json-text.ts';

export interface MadeResult {
  /** Null where parts of it were serialized early: only its text can be sent again. */
  readonly result: ExecutionResult | null;
  /** The number of fields in the result. */
  readonly fields: number;
  /** The result as JSON, memoized on first use. */
  text: JsonText | null;
}

export interface RecentResult extends MadeResult {
  readonly event: object;
  readonly node: OperationDefinitionNode;
}

// One event reaches all its subscribers in one turn, so hardly more than the latest result is
// requested again.
const MOST_KEPT = 32;

/**
 * The latest results by event and operation, in a small ring buffer. A WeakMap keyed by events
 * would make the garbage collector's work more expensive.
 */
export class RecentResults {
  readonly #ring: (RecentResult | null)[] = new Array<RecentResult | null>(MOST_KEPT).fill(null);
  #newest = 0;

  keep(event: object, node: OperationDefinitionNode, made: MadeResult): void {
    this.#newest = (this.#newest + 1) % MOST_KEPT;
    const { result, fields, text } = made;
    this.#ring[this.#newest] = { event, node, result, fields, text };
  }

  find(event: object, node: OperationDefinitionNode): RecentResult | null {
    for (let back = 0; back < MOST_KEPT; back += 1) {
      const kept = this.#ring[(this.#newest - back + MOST_KEPT) % MOST_KEPT];
      // The ring fills in order: behind an empty slot there is nothing.
      if (!kept) return null;
      if (kept.event === event && kept.node === node) return kept;
    }
    return null;
  }
}

/** Serializes a result once, however many subscribers receive it. */
export function textOf(kept: RecentResult): JsonText {
  kept.text ??= JSON.stringify(kept.result);
  return kept.text;
}
