import type { ExecutionResult, ValidatedExecutionArgs } from 'graphql';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Client } from '../../lib/limits/client.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { PullStream } from '../../lib/pull-stream.ts';
import type { ClientLimits } from '../admission/client-limits.ts';
import type { ReadingContext, RunCost } from '../admission/operation-context.ts';
import type { PreparedOperation } from '../documents/documents.ts';
import { asGraphQLError, type ErrorCodes } from '../operation/error-codes.ts';
import { extraForText, Meter } from '../operation/meter.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import type { JsonText } from '../operation/result-sink.ts';
import { FollowedEvents } from './delivery.ts';
import { jsonText } from './json-text.ts';
import { createSharedResults, type MadeResult, mayShare } from './shared-results.ts';

/** A subscription, as it is executed for each of its events. */
export interface LiveOperation {
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

const NOTHING_RUN: RunCost = { cost: 0, fields: 0 };

interface EventResultsOptions {
  readonly codes: ErrorCodes;
  readonly receipts: boolean;
  readonly scheduler: FairScheduler;
  readonly limits: Pick<ClientLimits, 'limiter' | 'overEvents'>;
  /** The budget of one event, in fields. */
  readonly maxCost: number;
}

export type EventResults = ReturnType<typeof createEventResults>;

/**
 * Executes live events, each once for all who sent the same document at the same point of a stream. That requires that
 * every field is marked as the account's, that no variables affect the event, and that the run read nothing else.
 */
export function createEventResults(options: EventResultsOptions) {
  const { codes, receipts, scheduler, limits, maxCost } = options;
  const shared = createSharedResults();

  function follow(events: PullStream<unknown>, live: LiveOperation): FollowedEvents {
    const { signal, reportsEnd, ended, record, newContext } = live;
    const stream = new FollowedEvents(events, {
      text: (event) => resultOf(event as object, live, events),
      failure: (error) => {
        const result = { errors: [asGraphQLError(error)] };
        // It is counted even where it is not sent.
        const shown = published(result, record, newContext(), NOTHING_RUN);
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

  /** Masks an event's errors, and adds its receipt. */
  function published(
    result: ExecutionResult,
    record: RequestSummary,
    context: ReadingContext,
    run: RunCost,
  ): ExecutionResult {
    const masked = codes.maskedResult(result, record);
    return receipts ? { ...masked, extensions: context.receipt(run) } : masked;
  }

  /** The event's result. One whose client owes fields ends the subscription, which it may begin again once they are earned. */
  function resultOf(
    event: object,
    live: LiveOperation,
    events: PullStream<unknown>,
  ): MaybePromise<JsonText> {
    const client = live.clientNow();
    const refusal = limits.overEvents(client);
    if (refusal !== null) throw refusal.errors[0];
    const own = () => ownResult(event, live, events, client);
    const known = shared.find(event, live.prepared);
    if (known === null) return own();
    const shown = (made: MadeResult | null): MaybePromise<JsonText> => {
      if (!made?.isShared) return own();
      const text = textOf(made);
      limits.limiter.spend('fields', client, fieldsToSend(text));
      return text;
    };
    return known instanceof Promise ? known.catch(() => null).then(shown) : shown(known);
  }

  function ownResult(
    event: object,
    live: LiveOperation,
    events: PullStream<unknown>,
    client: Client,
  ): MaybePromise<JsonText> {
    const { prepared, cost } = live;
    const meter = new Meter({ maxFields: maxCost, scheduler, client: client.key, estimate: cost });
    const making = chain(make(event, live, meter), (made) => {
      limits.limiter.spend('fields', client, meter.fields);
      // A client that folds the next event would never have what this one should have told.
      if (made.result.data == null) events.missed();
      return made;
    });
    const made = making instanceof Promise || meter.isCostly ? written(making, meter) : making;
    shared.keep(event, prepared, made);
    return chain(made, textOf);
  }

  /** Others are sent the result once it is serialized, which is done in slices where it is large. */
  async function written(making: MaybePromise<MadeResult>, meter: Meter): Promise<MadeResult> {
    const made = await making;
    made.text = await jsonText(made.result, meter);
    return made;
  }

  function make(event: object, live: LiveOperation, meter: Meter): MaybePromise<MadeResult> {
    const { prepared, args } = live;
    // Each event has its own context: reads must not be as old as the subscription.
    const context = live.newContext();
    const execute = () => {
      const own = { ...args, rootValue: event, contextValue: context };
      const result = prepared.executor.execute(own, meter);
      return chain(result, (settled) => madeOf(settled, live, context, meter));
    };
    if (!meter.isCostly) return execute();
    return meter
      .begin()
      .then(execute)
      .finally(() => meter.leave());
  }

  function madeOf(
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
    const whole = published(result, record, context, { cost, fields: meter.fields });
    return { isShared: mayShare(prepared) && !result.errors, result: whole, text: null };
  }

  return { follow };
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
