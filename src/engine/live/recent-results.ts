import type { ExecutionResult, OperationDefinitionNode } from 'graphql';

export interface MadeResult {
  readonly result: ExecutionResult;
  /** How many fields it holds. */
  readonly fields: number;
  /** The result as JSON; null until somebody wants it. */
  text: string | null;
}

export interface RecentResult extends MadeResult {
  readonly event: object;
  readonly node: OperationDefinitionNode;
}

// An event goes to all who wait for it in one turn, so that hardly more than the last is asked for again.
const MOST_KEPT = 32;

/**
 * The latest results, each by its event and the operation that it was executed for. A few of them in
 * a ring, and no table of events: what must be looked after for as long as an event lives lives too
 * long itself to be collected cheaply.
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
      // The ring fills in turn: behind an empty place there is nothing.
      if (!kept) return null;
      if (kept.event === event && kept.node === node) return kept;
    }
    return null;
  }
}

/** The result as JSON, written once however many are sent it. */
export function textOf(kept: RecentResult): string {
  kept.text ??= JSON.stringify(kept.result);
  return kept.text;
}
