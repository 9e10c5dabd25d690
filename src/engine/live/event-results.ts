import {
  type ExecutionResult,
  GraphQLError,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import type { Caller } from '../../gateway/caller.ts';
import { Context } from '../../schema/context.ts';
import type { Services } from '../../schema/services.ts';
import type { PreparedOperation } from '../documents/documents.ts';
import type { Publisher } from '../publisher.ts';
import { usesVariablesInEvents } from './event-variables.ts';
import { FollowedEvents } from './followed-events.ts';
import { RecentResults } from './recent-results.ts';

/** A subscription, as it is run for each of its events. */
export interface LiveOperation {
  readonly prepared: PreparedOperation;
  readonly args: ValidatedExecutionArgs;
  readonly cost: number;
  readonly caller: Caller;
  readonly requestId: string;
}

export interface Following {
  /** True where the transport has its own way to say why a subscription ends; else an event says it. */
  readonly tellsEnd: (error: unknown) => boolean;
  readonly ended: () => void;
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
  readonly #recent = new RecentResults();
  readonly #isShared = new WeakMap<OperationDefinitionNode, boolean>();

  constructor(services: Services, publisher: Publisher) {
    this.#services = services;
    this.#publisher = publisher;
  }

  follow(
    events: AsyncIterable<unknown>,
    live: LiveOperation,
    { tellsEnd, ended }: Following,
  ): FollowedEvents {
    const { signal } = live.caller;
    const stream = new FollowedEvents(events, {
      value: (event) => this.#resultOf(event as object, live),
      text: (event) => this.#textOf(event as object, live),
      failure: (error) => (tellsEnd(error) ? null : this.#lastWord(error, live)),
      ended: () => {
        signal?.removeEventListener('abort', leave);
        ended();
      },
    });
    // Not every transport passes on at once that its client has left: some wait for the next event.
    const leave = () => void stream.return();
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave);
    return stream;
  }

  #lastWord(error: unknown, { caller, requestId }: LiveOperation): ExecutionResult {
    const context = new Context(this.#services, caller, requestId);
    return this.#publisher.publish({ errors: [asGraphQLError(error)] }, context);
  }

  #textOf(event: object, live: LiveOperation): Eventually<string> {
    const { node } = live.prepared;
    const known = this.#recent.text(event, node);
    if (known !== null) return known;
    const result = this.#resultOf(event, live);
    if (result instanceof Promise) return result.then((arrived) => JSON.stringify(arrived));
    // Kept beside the result, where that may be told to others.
    return this.#recent.text(event, node) ?? JSON.stringify(result);
  }

  #resultOf(event: object, live: LiveOperation): Eventually<ExecutionResult> {
    const { node } = live.prepared;
    const known = this.#recent.result(event, node);
    if (known) return known;
    // A context of its own: what an event reads must not be as old as the subscription.
    const context = new Context(this.#services, live.caller, live.requestId);
    context.cost = live.cost;
    const result = this.#execute(event, live, context);
    if (!this.#mayShare(live)) return result;
    if (context.isPersonal) this.#isShared.set(node, false);
    else if (!(result instanceof Promise) && !result.errors) this.#recent.keep(event, node, result);
    return result;
  }

  #execute(event: object, live: LiveOperation, context: Context): Eventually<ExecutionResult> {
    const { prepared, args } = live;
    const result = prepared.compiled.execute({ ...args, rootValue: event, contextValue: context });
    return result instanceof Promise
      ? result.then((arrived) => this.#publisher.publish(arrived, context))
      : this.#publisher.publish(result, context);
  }

  #mayShare({ prepared: { node }, args }: LiveOperation): boolean {
    let isShared = this.#isShared.get(node);
    if (isShared === undefined) {
      isShared = !usesVariablesInEvents(args.document, node);
      this.#isShared.set(node, isShared);
    }
    return isShared;
  }
}

function asGraphQLError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}
