import {
  createSourceEventStream,
  type ExecutionResult,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import { clientOf, type RequestCaller } from '../../lib/limits/caller.ts';
import type { Client } from '../../lib/limits/client.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { PullStream, pullStreamOf } from '../../lib/pull-stream.ts';
import type { ClientLimits } from '../admission/client-limits.ts';
import type { OperationContext, ReadingContext, RunCost } from '../admission/operation-context.ts';
import type { PreparedOperation } from '../documents/documents.ts';
import { asGraphQLError, type ErrorCodes } from '../operation/error-codes.ts';
import { Meter } from '../operation/meter.ts';
import { overLimit } from '../operation/refusal.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import type { JsonText } from '../operation/result-sink.ts';
import { FollowedEvents } from './delivery.ts';
import { jsonText } from './json-text.ts';

/** The events, or a result with errors if there are none. */
export type Subscribed = AsyncIterable<ExecutionResult> | ExecutionResult;

/** A subscription, with the inputs that the execution of each event needs. */
interface LiveOperation {
  readonly events: PullStream<unknown>;
  readonly prepared: PreparedOperation;
  readonly args: ValidatedExecutionArgs;
  readonly cost: number;
  /** Events are charged to the caller's account, or to the address of its client once its token has ended. */
  readonly caller: RequestCaller;
  /** Returns true if the transport itself reports why a subscription ends. If not, a last event reports the reason. */
  readonly reportsEnd: (error: unknown) => boolean;
  readonly ended: () => void;
  readonly record: RequestSummary;
  readonly newContext: () => ReadingContext;
}

export interface EventResultsOptions {
  readonly codes: ErrorCodes;
  readonly receipts: boolean;
  readonly scheduler: FairScheduler;
  readonly limits: ClientLimits;
  /** The budget of one event, in fields. */
  readonly maxCost: number;
}

interface EventText {
  readonly text: JsonText;
  /** Whether it may be sent to other subscribers. */
  readonly isShared: boolean;
  /** The number of fields that each subscriber is charged for it. */
  readonly fields: number;
}

interface RecentText {
  readonly event: object;
  readonly node: OperationDefinitionNode;
  /** A promise while a large result is being made. */
  readonly made: MaybePromise<EventText>;
}

const NO_COST: RunCost = { cost: 0, fields: 0 };
// An event reaches all subscribers in one turn, so usually only the latest results are requested again.
const MAX_RECENT = 32;

/**
 * Executes live events. An event is executed once for all subscribers with the same document, if every field is marked as
 * the account's, no variables affect the event, and its execution read no other data.
 */
export class EventResults {
  readonly #options: EventResultsOptions;
  /** The latest is first. A WeakMap of events would burden the garbage collector. */
  #recent: readonly RecentText[] = [];

  constructor(options: EventResultsOptions) {
    this.#options = options;
  }

  /** Begins a subscription. Its transport calls `deliver`, because iterating would cost a promise for each event. */
  async begin(context: OperationContext): Promise<Subscribed> {
    const { limits } = this.#options;
    const { operation } = context;
    const { prepared, cost, caller, transport } = operation;
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
    const events = source instanceof PullStream ? source : pullStreamOf<unknown>(source);
    // Beginning the subscription may have proved the token's account.
    const client = limits.currentClient(operation);
    const { limiter } = limits;
    if (limiter.take('subscriptions', client).isOver) {
      events.leave();
      return { errors: overLimit('subscriptions').errors };
    }
    operation.events = this.follow({
      events,
      prepared,
      // Each event has its own context. This context and unused variables must not live until the subscription ends.
      args: { ...args, contextValue: null, rawVariableValues: {} },
      cost,
      caller,
      reportsEnd,
      ended: () => limiter.giveBack('subscriptions', client),
      record,
      newContext: context.eventContexts(),
    });
    return operation.events;
  }

  follow(live: LiveOperation): FollowedEvents {
    const { events, caller, reportsEnd, ended, record, newContext } = live;
    const { signal } = caller;
    const stream = new FollowedEvents(events, {
      text: (event) => this.#textOf(event as object, live),
      failure: (error) => {
        const result = { errors: [asGraphQLError(error)] };
        // Counts the error even if it is not sent.
        const shown = this.#published(result, record, newContext(), NO_COST);
        return reportsEnd(error) ? null : shown;
      },
      ended: () => {
        signal?.removeEventListener('abort', leave);
        ended();
      },
    });
    // Some transports propagate a disconnect only with the next event, so the AbortSignal ends the stream.
    const leave = () => stream.leave();
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave);
    return stream;
  }

  /** Returns the event's result as JSON. Throws if the client is over its limit of fields, which ends its subscription. */
  #textOf(event: object, live: LiveOperation): MaybePromise<JsonText> {
    const { limits } = this.#options;
    const client = clientOf(live.caller);
    const refusal = limits.refusalByFields(client);
    if (refusal !== null) throw refusal.errors[0];
    return chain(this.#madeFor(event, live, client), ({ text, fields }) => {
      limits.limiter.spend('fields', client, fields);
      return text;
    });
  }

  /** Returns the result made for another subscriber if it may be shared; otherwise makes one. */
  #madeFor(event: object, live: LiveOperation, client: Client): MaybePromise<EventText> {
    const { prepared } = live;
    const make = () => this.#make(event, live, client);
    // A primitive cannot identify an event: the next event may be the same number, or null again.
    const isPrimitive = Object(event) !== event;
    if (isPrimitive || !mayShare(prepared)) return make();
    const known = this.#recent.find((text) => text.event === event && text.node === prepared.node);
    if (known) return chain(known.made, (made) => (made.isShared ? made : make()));
    const made = make();
    const latest = { event, node: prepared.node, made };
    this.#recent = [latest, ...this.#recent.slice(0, MAX_RECENT - 1)];
    return made;
  }

  #make(event: object, live: LiveOperation, client: Client): MaybePromise<EventText> {
    const { maxCost, scheduler } = this.#options;
    const { events, prepared, args, cost } = live;
    const meter = new Meter({ maxFields: maxCost, scheduler, client: client.key, estimate: cost });
    // Each event has its own context, so that its reads are not as old as the subscription.
    const context = live.newContext();
    const execute = () => {
      const eventArgs = { ...args, rootValue: event, contextValue: context };
      return chain(prepared.executor.execute(eventArgs, meter), (result) => {
        // The client does not get the changes of this event, so the next event has to repeat them.
        if (result.data == null) events.missed();
        return this.#written(result, live, context, meter);
      });
    };
    if (!meter.isCostly) return execute();
    return meter
      .begin()
      .then(execute)
      .finally(() => meter.leave());
  }

  #written(
    result: ExecutionResult,
    live: LiveOperation,
    context: ReadingContext,
    meter: Meter,
  ): MaybePromise<EventText> {
    const { prepared, cost, record } = live;
    const { sharedUse } = prepared.facts;
    // Subscribers of an account may have different groups, so a read of a group's data makes a result personal too.
    const isPersonal = context.isPersonal || context.readsShared;
    if (sharedUse !== null && isPersonal) sharedUse.isBarred = true;
    // An event over its budget ends its subscription, because the next event would exceed it too.
    if (meter.isOver) throw meter.error();
    const { fields } = meter;
    const isShared = mayShare(prepared) && !result.errors;
    const whole = this.#published(result, record, context, { cost, fields });
    return chain(jsonText(whole, meter), (text) => ({ text, isShared, fields }));
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

/** Whether results may be shared: until an execution has read data that is not the account's, despite its fields' marks. */
function mayShare({ facts: { sharedUse } }: PreparedOperation): boolean {
  return sharedUse !== null && !sharedUse.isBarred;
}
