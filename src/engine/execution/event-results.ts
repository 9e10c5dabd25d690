import {
  createSourceEventStream,
  type ExecutionResult,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Client } from '../../lib/limits/client.ts';
import { Slot } from '../../lib/limits/slot.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { PullStream, pullStreamOf } from '../../lib/pull-stream.ts';
import type { ClientLimits } from '../admission/client-limits.ts';
import type { OperationContext, ReadingContext, RunCost } from '../admission/operation-context.ts';
import type { PreparedOperation } from '../documents/documents.ts';
import { asGraphQLError, type ErrorCodes } from '../operation/error-codes.ts';
import { extraForText, Meter } from '../operation/meter.ts';
import { overLimit } from '../operation/over-limit-error.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import type { JsonText } from '../operation/result-sink.ts';
import { FollowedEvents } from './delivery.ts';
import { jsonText } from './json-text.ts';

/** The events, or a result where there are none. */
export type Subscribed = AsyncIterableIterator<ExecutionResult, void> | ExecutionResult;

/** A subscription, as it is executed for each of its events. */
interface LiveOperation {
  readonly prepared: PreparedOperation;
  readonly args: ValidatedExecutionArgs;
  readonly cost: number;
  readonly signal: AbortSignal | undefined;
  /** True where the transport itself reports why a subscription ends; otherwise a last event does. */
  readonly reportsEnd: (error: unknown) => boolean;
  readonly ended: () => void;
  readonly record: RequestSummary;
  readonly newContext: () => ReadingContext;
  /** Returns the client that its events are charged to: once its token has ended, its account no more. */
  readonly clientNow: () => Client;
}

interface EventResultsOptions {
  readonly codes: ErrorCodes;
  readonly receipts: boolean;
  readonly scheduler: FairScheduler;
  readonly limits: Pick<ClientLimits, 'limiter' | 'overEvents' | 'currentClient'>;
  /** The budget of one event, in fields. */
  readonly maxCost: number;
}

interface MadeResult {
  readonly result: ExecutionResult;
  /** True when it may be sent to other subscribers. */
  readonly isShared: boolean;
  /** The result as JSON, memoized on first use. */
  text: JsonText | null;
}

interface RecentResult {
  readonly event: object;
  readonly node: OperationDefinitionNode;
  /** A promise while a large one is being made. */
  readonly made: MaybePromise<MadeResult>;
}

const NOTHING_RUN: RunCost = { cost: 0, fields: 0 };
// An event reaches all subscribers in one turn: hardly more than the latest result is requested again.
const MAX_RECENT = 32;

/**
 * Executes live events, each once for all who sent the same document at the same point of a stream. That requires that
 * every field is marked as the account's, that no variables affect the event, and that the run read nothing else.
 */
export class EventResults {
  readonly #options: EventResultsOptions;
  /** The latest first. A WeakMap of events would burden the collector. */
  #recent: readonly RecentResult[] = [];

  constructor(options: EventResultsOptions) {
    this.#options = options;
  }

  /** Begins a subscription, whose transport delivers its events. Their texts pass no iterator. */
  async begin(context: OperationContext): Promise<Subscribed> {
    const { limits } = this.#options;
    const { operation } = context;
    const { prepared, cost, signal, transport, clientNow } = operation;
    const { record, reportsEnd = () => false } = transport;
    const args = { ...operation.args, contextValue: context };
    // Either a stream, or a result with the error: the executor throws nothing.
    const source = await createSourceEventStream(
      args as Parameters<typeof createSourceEventStream>[0],
    );
    if (!(Symbol.asyncIterator in source)) {
      reportsEnd(source.errors?.[0]?.originalError);
      return source;
    }
    const events = source instanceof PullStream ? source : pullStreamOf<unknown>(source);
    // Beginning the subscription may have proved its account.
    limits.currentClient(operation);
    const slot = Slot.take(limits.limiter, 'subscriptions', clientNow);
    if (slot === null) {
      events.leave();
      return { errors: overLimit('subscriptions').errors };
    }
    operation.events = this.follow(events, {
      prepared,
      // Each event has a context of its own; this one, and variables that nothing uses, must not live as long as the subscription.
      args: { ...args, contextValue: null, rawVariableValues: {} },
      cost,
      signal,
      reportsEnd,
      ended: () => slot.release(),
      record,
      newContext: context.eventContexts(),
      clientNow,
    });
    return operation.events;
  }

  follow(events: PullStream<unknown>, live: LiveOperation): FollowedEvents {
    const { signal, reportsEnd, ended, record, newContext } = live;
    const stream = new FollowedEvents(events, {
      text: (event) => this.#textOf(event as object, live, events),
      failure: (error) => {
        const result = { errors: [asGraphQLError(error)] };
        // It is counted even where it is not sent.
        const shown = this.#published(result, record, newContext(), NOTHING_RUN);
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

  /** The event's result. One whose client owes fields ends the subscription, which it may begin again once they are earned. */
  #textOf(event: object, live: LiveOperation, events: PullStream<unknown>): MaybePromise<JsonText> {
    const { limits } = this.#options;
    const client = live.clientNow();
    const refusal = limits.overEvents(client);
    if (refusal !== null) throw refusal.errors[0];
    const own = () => this.#ownText(event, live, events, client);
    const shown = (made: MadeResult | null): MaybePromise<JsonText> => {
      if (!made?.isShared) return own();
      const text = textOf(made);
      limits.limiter.spend('fields', client, fieldsToSend(text));
      return text;
    };
    const { prepared } = live;
    const isSame = (one: RecentResult) => one.event === event && one.node === prepared.node;
    const known = mayShare(prepared) ? this.#recent.find(isSame)?.made : undefined;
    if (known === undefined) return own();
    return known instanceof Promise ? known.catch(() => null).then(shown) : shown(known);
  }

  #ownText(
    event: object,
    live: LiveOperation,
    events: PullStream<unknown>,
    client: Client,
  ): MaybePromise<JsonText> {
    const { limits, maxCost, scheduler } = this.#options;
    const { prepared, cost } = live;
    const meter = new Meter({ maxFields: maxCost, scheduler, client: client.key, estimate: cost });
    const making = chain(this.#make(event, live, meter), (made) => {
      limits.limiter.spend('fields', client, meter.fields);
      // A client that folds the next event would never have what this one should have told.
      if (made.result.data == null) events.missed();
      return made;
    });
    const made = making instanceof Promise || meter.isCostly ? written(making, meter) : making;
    // A later event may be the same number, or nothing again: it is another event all the same.
    if (
      Object(event) === event &&
      mayShare(prepared) &&
      (made instanceof Promise || made.isShared)
    ) {
      const latest = { event, node: prepared.node, made };
      this.#recent = [latest, ...this.#recent.slice(0, MAX_RECENT - 1)];
    }
    return chain(made, textOf);
  }

  #make(event: object, live: LiveOperation, meter: Meter): MaybePromise<MadeResult> {
    const { prepared, args } = live;
    // Each event has its own context: reads must not be as old as the subscription.
    const context = live.newContext();
    const execute = () => {
      const own = { ...args, rootValue: event, contextValue: context };
      const result = prepared.executor.execute(own, meter);
      return chain(result, (settled) => this.#madeOf(settled, live, context, meter));
    };
    if (!meter.isCostly) return execute();
    return meter
      .begin()
      .then(execute)
      .finally(() => meter.leave());
  }

  #madeOf(
    result: ExecutionResult,
    live: LiveOperation,
    context: ReadingContext,
    meter: Meter,
  ): MadeResult {
    const { prepared, cost, record } = live;
    const { sharedUse } = prepared;
    // Subscribers of an account may differ in groups: reading theirs makes a result personal too.
    if (sharedUse !== null) sharedUse.isBarred ||= context.isPersonal || context.readsShared;
    // An event that exceeds its budget ends its subscription: the next would exceed it too.
    if (meter.isOver) throw meter.error();
    const whole = this.#published(result, record, context, { cost, fields: meter.fields });
    return { isShared: mayShare(prepared) && !result.errors, result: whole, text: null };
  }

  /** Masks an event's errors, and adds its receipt. */
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

/** Others are sent the result once it is serialized, which is done in slices where it is large. */
async function written(making: MaybePromise<MadeResult>, meter: Meter): Promise<MadeResult> {
  const made = await making;
  made.text = await jsonText(made.result, meter);
  return made;
}

/** True until a run has read something that is not the account's, against the marks of its fields. */
function mayShare({ sharedUse }: PreparedOperation): boolean {
  return sharedUse !== null && !sharedUse.isBarred;
}

function textOf(made: MadeResult): JsonText {
  made.text ??= JSON.stringify(made.result);
  return made.text;
}

/** The fields that a further reader of a result is charged: it was made already, and is sent once more. */
function fieldsToSend(text: JsonText): number {
  const bytes =
    typeof text === 'string' ? text.length : text.reduce((sum, { length }) => sum + length, 0);
  return 1 + extraForText(bytes);
}
