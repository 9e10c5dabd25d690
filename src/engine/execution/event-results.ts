import {
  createSourceEventStream,
  type ExecutionResult,
  type ValidatedExecutionArgs,
} from 'graphql';
import { EventIterator } from '../../lib/event-iterator.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { clientOf, type RequestCaller, type Token } from '../../lib/limits/request-caller.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { ClientLimits } from '../admission/client-limits.ts';
import type { OperationContext, ReadingContext, RunCost } from '../admission/operation.ts';
import type { PreparedOperation } from '../documents/documents.ts';
import type { RequestFacts } from '../documents/operation-facts.ts';
import { asGraphQLError, type ErrorMasking } from '../operation/error-masking.ts';
import { overLimit } from '../operation/errors.ts';
import { LiveResults } from '../operation/live-results.ts';
import { Meter } from '../operation/meter.ts';
import type { RequestSummary } from '../operation/request-summary.ts';

/** The results of events, the parts of an answer, or one result. */
export type Subscribed = AsyncIterableIterator<ExecutionResult> | ExecutionResult;

/** A subscription, with the inputs that the execution of each event needs. */
interface LiveOperation {
  readonly events: AsyncIterable<unknown>;
  readonly prepared: PreparedOperation;
  readonly args: ValidatedExecutionArgs;
  readonly facts: RequestFacts;
  /** Events are charged to the caller's account, or to the address of its client once its token has ended. */
  readonly caller: RequestCaller;
  /** Returns true if the transport itself reports why a subscription ends. If not, a last event reports the reason. */
  readonly reportsEnd: (error: unknown) => boolean;
  readonly ended: () => void;
  readonly record: RequestSummary;
  readonly newContext: () => ReadingContext;
}

export interface EventResultsOptions {
  readonly codes: ErrorMasking;
  readonly receipts: boolean;
  readonly limits: ClientLimits;
  /** The budget of one event, in fields. */
  readonly maxCost: number;
  /**
   * Calls `ended` when the token expires or is refused, with the error that ends its subscriptions, whoever made their
   * events. Returns a function that stops watching.
   */
  readonly watchToken: (token: Token, ended: (error: Error) => void) => () => void;
}

const NO_COST: RunCost = { cost: 0, fields: 0 };

/** Executes live events, each for its subscriber. */
export class EventResults {
  readonly #options: EventResultsOptions;

  constructor(options: EventResultsOptions) {
    this.#options = options;
  }

  /** Begins a subscription. Returns the results of its events, or a result with errors. */
  async begin(context: OperationContext): Promise<Subscribed> {
    const { limits } = this.#options;
    const { operation } = context;
    const { prepared, facts, caller, transport } = operation;
    const { record, reportsEnd = () => false } = transport;
    const args = { ...operation.args, contextValue: context };
    // The executor does not throw: it returns a stream, or a result with the error. The cast states that admission has found
    // a subscription.
    const source = await createSourceEventStream(
      args as Parameters<typeof createSourceEventStream>[0],
    );
    if (!(Symbol.asyncIterator in source)) {
      reportsEnd(source.errors?.[0]?.originalError);
      return source;
    }
    // Beginning the subscription may have proved the token's account.
    const client = limits.currentClient(operation);
    const { limiter } = limits;
    if (limiter.take('subscriptions', client).isOver) {
      fireAndForget('live results', Promise.resolve(source[Symbol.asyncIterator]().return?.()));
      return { errors: overLimit('subscriptions').errors };
    }
    operation.live = this.follow({
      events: source,
      prepared,
      // Each event has its own context. This context and unused variables must not live until the subscription ends.
      args: { ...args, contextValue: null, rawVariableValues: {} },
      facts,
      caller,
      reportsEnd,
      ended: () => limiter.giveBack('subscriptions', client),
      record,
      newContext: context.eventContexts(),
    });
    return operation.live;
  }

  follow(live: LiveOperation): LiveResults {
    const { events, caller, reportsEnd, ended, record, newContext } = live;
    const { signal } = caller;
    const results = new LiveResults(events, {
      resultOf: (event) => this.#resultOf(event, live),
      lastResult: (error) => {
        const result = { errors: [asGraphQLError(error)] };
        // Counts the error even if it is not sent.
        const shown = this.#published(result, record, newContext(), NO_COST);
        return reportsEnd(error) ? null : shown;
      },
      ended: () => {
        unwatch?.();
        signal?.removeEventListener('abort', leave);
        ended();
      },
    });
    const unwatch =
      caller.token && this.#options.watchToken(caller.token, (error) => results.fail(error));
    // A transport may learn of a disconnect only with the next event, so the AbortSignal ends the results.
    const leave = () => fireAndForget('live results', results.return());
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave);
    return results;
  }

  /** Executes an event. Throws if the client is over its limit of fields, which ends its subscription. */
  #resultOf(event: unknown, live: LiveOperation): MaybePromise<ExecutionResult> {
    const { limits, maxCost } = this.#options;
    const { events, prepared, args, facts, caller, newContext } = live;
    const client = clientOf(caller);
    const refusal = limits.refusalByFields(client);
    if (refusal !== null) throw refusal.errors[0];
    const meter = new Meter(maxCost, facts);
    // Each event has its own context, so that its reads are not as old as the subscription.
    const context = newContext();
    const eventArgs = { ...args, rootValue: event, contextValue: context };
    return chain(prepared.executor.execute(eventArgs, meter), (result) => {
      // The client does not get the changes of this event, so the next event has to repeat them.
      if (result.data == null && events instanceof EventIterator) events.missed();
      // An event over its budget ends its subscription, because the next event would exceed it too.
      if (meter.isOver) throw meter.error();
      const run = { cost: facts.cost, fields: meter.fields };
      limits.limiter.spend('fields', client, run.fields);
      return this.#published(result, live.record, context, run);
    });
  }

  /** Masks an event's errors, and adds the event's receipt (its costs). */
  #published(
    result: ExecutionResult,
    record: RequestSummary,
    context: ReadingContext,
    run: RunCost,
  ): ExecutionResult {
    const { codes, receipts } = this.#options;
    const masked = codes.maskedResult(result, record);
    return receipts ? { ...masked, extensions: context.receipt(run) } : masked;
  }
}
