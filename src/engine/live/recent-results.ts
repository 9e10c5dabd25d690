import type { ExecutionResult, OperationDefinitionNode } from 'graphql';

interface Kept {
  readonly event: object;
  readonly node: OperationDefinitionNode;
  readonly result: ExecutionResult;
  text: string | null;
}

// An event goes to all who wait for it in one turn, so that hardly more than the last is asked for again.
const MOST_KEPT = 32;

/**
 * The latest results, each by its event and the operation that it was executed for. A few of them in
 * a ring, and no table of events: what must be looked after for as long as an event lives lives too
 * long itself to be collected cheaply.
 */
export class RecentResults {
  readonly #ring: (Kept | null)[] = new Array<Kept | null>(MOST_KEPT).fill(null);
  #newest = 0;

  result(event: object, node: OperationDefinitionNode): ExecutionResult | null {
    return this.#find(event, node)?.result ?? null;
  }

  /** The result as JSON, written once however many are told it. */
  text(event: object, node: OperationDefinitionNode): string | null {
    const kept = this.#find(event, node);
    if (kept === null) return null;
    kept.text ??= JSON.stringify(kept.result);
    return kept.text;
  }

  keep(event: object, node: OperationDefinitionNode, result: ExecutionResult): void {
    this.#newest = (this.#newest + 1) % MOST_KEPT;
    this.#ring[this.#newest] = { event, node, result, text: null };
  }

  #find(event: object, node: OperationDefinitionNode): Kept | null {
    for (let back = 0; back < MOST_KEPT; back += 1) {
      const kept = this.#ring[(this.#newest - back + MOST_KEPT) % MOST_KEPT];
      // The ring fills in turn: behind an empty place there is nothing.
      if (!kept) return null;
      if (kept.event === event && kept.node === node) return kept;
    }
    return null;
  }
}
