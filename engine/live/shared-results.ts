import {
  type DocumentNode,
  type ExecutionResult,
  Kind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  visit,
} from 'graphql';
import type { Eventually } from '../../lib/eventually.ts';
import type { PreparedOperation } from '../documents/documents.ts';
import { Selections } from '../documents/selections.ts';
import { marksOf } from '../documents/sharing-marks.ts';
import type { JsonText } from '../results/json-text.ts';
import type { EventText } from './delivery.ts';

export interface MadeResult {
  readonly result: ExecutionResult;
  /** True when it may be sent to other subscribers. */
  readonly isShared: boolean;
  /** The result as JSON, memoized on first use. */
  text: JsonText | null;
  /** The same for clients that unpack it, memoized on first use. */
  packed: Eventually<EventText> | null;
}

/** The operation of a subscriber, as far as sharing depends on it. */
export interface SharingOperation {
  readonly prepared: PreparedOperation;
  readonly args: ValidatedExecutionArgs;
}

interface RecentResult {
  readonly event: object;
  readonly node: OperationDefinitionNode;
  readonly made: MadeResult;
}

interface Making {
  readonly node: OperationDefinitionNode;
  readonly done: Promise<void>;
}

// One event reaches all its subscribers in one turn, so hardly more than the latest result is
// requested again.
const MOST_KEPT = 32;

/**
 * The latest results that several subscribers may be sent, by event and operation, in a small ring
 * buffer. A WeakMap keyed by events would make the garbage collector's work more expensive.
 */
export class SharedResults {
  readonly #ring: (RecentResult | null)[] = new Array<RecentResult | null>(MOST_KEPT).fill(null);
  #newest = 0;
  readonly #mayShare = new WeakMap<OperationDefinitionNode, boolean>();
  /** Large events whose result is being computed: one single flight per event. */
  readonly #making = new WeakMap<object, Making>();

  /** True where every field is marked as the account's and no variables affect the event. */
  mayShare({ prepared: { node }, args }: SharingOperation): boolean {
    let mayShare = this.#mayShare.get(node);
    if (mayShare === undefined) {
      const marks = marksOf(new Selections(args.schema, args.document), node);
      const isOfAccount = marks !== null && [...marks].every((mark) => mark === 'account');
      mayShare = isOfAccount && !usesVariablesInEvents(args.document, node);
      this.#mayShare.set(node, mayShare);
    }
    return mayShare;
  }

  /** Called when a run of the operation read what is not the account's, whatever the marks say. */
  bar({ prepared: { node } }: SharingOperation): void {
    this.#mayShare.set(node, false);
  }

  keep(event: object, { prepared: { node } }: SharingOperation, made: MadeResult): void {
    if (!made.isShared) return;
    this.#newest = (this.#newest + 1) % MOST_KEPT;
    this.#ring[this.#newest] = { event, node, made };
  }

  find(event: object, operation: SharingOperation): MadeResult | null {
    if (!this.mayShare(operation)) return null;
    for (let back = 0; back < MOST_KEPT; back += 1) {
      const kept = this.#ring[(this.#newest - back + MOST_KEPT) % MOST_KEPT];
      // The ring fills in order: behind an empty slot there is nothing.
      if (!kept) return null;
      if (kept.event === event && kept.node === operation.prepared.node) return kept.made;
    }
    return null;
  }

  /** Joins the single flight in which another subscriber's result of the event is being computed. */
  underWay(event: object, { prepared: { node } }: SharingOperation): Promise<void> | null {
    const making = this.#making.get(event);
    return making?.node === node ? making.done : null;
  }

  /** Begins a single flight, which ends with `made`. */
  begin(event: object, operation: SharingOperation, made: Promise<unknown>): void {
    if (!this.mayShare(operation)) return;
    const over = () => {
      if (this.#making.get(event)?.done === done) this.#making.delete(event);
    };
    const done = made.then(over, over);
    this.#making.set(event, { node: operation.prepared.node, done });
  }
}

/**
 * True where variables affect what an event contains. The arguments of the subscription itself do
 * not: they select its events.
 */
function usesVariablesInEvents(
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): boolean {
  const roots = selectionSet.selections.map((root) => ({ ...root, arguments: [] }));
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  let uses = false;
  const found = () => {
    uses = true;
  };
  for (const part of [...roots, ...fragments]) visit(part, { [Kind.VARIABLE]: found });
  return uses;
}
