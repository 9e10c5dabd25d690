import {
  type DocumentNode,
  type ExecutionResult,
  Kind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  visit,
} from 'graphql';
import type { Caller } from '../gateway/caller.ts';
import { Context } from '../schema/context.ts';
import type { Services } from '../schema/services.ts';
import type { PreparedOperation } from './documents.ts';
import type { Publisher } from './publisher.ts';

/** A subscription, as it is run for each of its events. */
export interface LiveOperation {
  readonly prepared: PreparedOperation;
  readonly args: ValidatedExecutionArgs;
  readonly cost: number;
  readonly caller: Caller;
  readonly requestId: string;
}

type Eventually<T> = T | Promise<T>;

/**
 * Results of live events. Subscribers who stand at the same point are told the very same event
 * object: what was executed for one of them serves the next who sent the same document, unless
 * anything of the viewer's, or of the variables, went into it.
 */
export class EventResults {
  readonly #services: Services;
  readonly #publisher: Publisher;
  readonly #results = new WeakMap<object, Map<OperationDefinitionNode, ExecutionResult>>();
  readonly #isShared = new WeakMap<OperationDefinitionNode, boolean>();

  constructor(services: Services, publisher: Publisher) {
    this.#services = services;
    this.#publisher = publisher;
  }

  of(event: object, live: LiveOperation): Eventually<ExecutionResult> {
    const { node } = live.prepared;
    const known = this.#results.get(event)?.get(node);
    if (known) return known;
    // A context of its own: what an event reads must not be as old as the subscription.
    const context = new Context(this.#services, live.caller, live.requestId);
    context.cost = live.cost;
    const result = this.#execute(event, live, context);
    if (!this.#mayShare(live)) return result;
    if (context.isPersonal) this.#isShared.set(node, false);
    else if (!(result instanceof Promise) && !result.errors) this.#keep(event, node, result);
    return result;
  }

  #execute(event: object, live: LiveOperation, context: Context): Eventually<ExecutionResult> {
    const publish = (result: ExecutionResult) => this.#publisher.publish(result, context);
    const { prepared, args } = live;
    const result = prepared.compiled.execute({ ...args, rootValue: event, contextValue: context });
    return result instanceof Promise ? result.then(publish) : publish(result);
  }

  #mayShare({ prepared: { node }, args }: LiveOperation): boolean {
    let isShared = this.#isShared.get(node);
    if (isShared === undefined) {
      isShared = !usesVariablesInEvents(args.document, node);
      this.#isShared.set(node, isShared);
    }
    return isShared;
  }

  #keep(event: object, node: OperationDefinitionNode, result: ExecutionResult): void {
    const results = this.#results.get(event);
    if (results) results.set(node, result);
    else this.#results.set(event, new Map([[node, result]]));
  }
}

/** The arguments of the subscription itself choose its events; what is below them is what an event shows. */
function usesVariablesInEvents(
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): boolean {
  const roots = new Set<unknown>(selectionSet.selections);
  let uses = false;
  visit(document, {
    [Kind.VARIABLE_DEFINITION]: () => false,
    [Kind.ARGUMENT]: (_argument, _key, _parent, _path, ancestors) =>
      roots.has(ancestors.at(-1)) ? false : undefined,
    [Kind.VARIABLE]: () => {
      uses = true;
    },
  });
  return uses;
}
