import type { ExecutionResult } from 'graphql';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Client } from '../../lib/limits/client.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { TraceSpan } from '../../lib/tracing/tracing.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import { partsNow } from '../documents/deferred-parts.ts';
import type { Deferral, Executable } from '../documents/documents.ts';
import { asGraphQLError, type ErrorCodes } from '../operation/error-codes.ts';
import { overLimit } from '../operation/over-limit-error.ts';
import type { PartsFormat } from '../operation/transport-context.ts';
import { beginEvents, type Subscribed } from './begin-events.ts';
import { type CachedAnswerParts, cachedAnswer } from './cached-answer.ts';
import { deferredAnswer } from './deferred-answer.ts';
import type { EventResults } from './event-results.ts';
import { jsonText } from './json-text.ts';
import { endSpan } from './operation-traces.ts';
import { CachedResult } from './response-cache.ts';

interface ExecutionParts extends CachedAnswerParts {
  readonly scheduler: FairScheduler;
  readonly codes: ErrorCodes;
  readonly events: EventResults;
  readonly receipts: boolean;
}

export type Execution = ReturnType<typeof createExecution>;

/** Executes admitted operations: compiled once they recur, events once for all subscribers who may share the result. */
export function createExecution(parts: ExecutionParts) {
  const { limits, scheduler, codes, events, receipts } = parts;
  const { limiter } = limits;

  /** The result of a query or a mutation, or its parts. */
  function execute(context: OperationContext): MaybePromise<Subscribed> {
    const { prepared, transport, values } = context.operation;
    const { partsFormat } = transport;
    const deferral = partsFormat && partsNow(prepared.deferral, values);
    if (partsFormat && deferral) return defer(context, partsFormat, deferral);
    // A cached response waits for no turn.
    return cachedAnswer(parts, context, computed);
  }

  /** All parts begin at once, with one context: what several of them read is read once. */
  function defer(
    context: OperationContext,
    format: PartsFormat,
    { rest, fragments }: Deferral,
  ): Subscribed {
    const { operation } = context;
    const { meter, transport } = operation;
    const client = limits.currentClient(operation);
    const refusal = limits.overFields(operation) ?? overCostly(operation, client);
    if (refusal !== null) return { errors: refusal.errors };
    let last: object = {};
    let waiting = fragments.length + (rest === null ? 0 : 1);
    // The parts have one place among the client's costly operations, so that none waits for another.
    const begun = meter.isCostly ? meter.begin() : null;
    const run = async (part: Executable, span: TraceSpan | null) => {
      if (begun !== null) await begun;
      const result = await partOf(context, part, client, span);
      transport.record.partMade();
      waiting -= 1;
      if (waiting === 0) {
        if (begun !== null) release(operation, client);
        limits.chargeFields(operation);
        last = ended(context, {});
      }
      return result;
    };
    const first = rest === null ? Promise.resolve({ data: {} }) : run(rest, null);
    const parts = fragments.map((fragment, at) => {
      const { label } = fragment;
      // The label is the client's own text.
      const attributes = { part: at + 1 };
      const span = operation.trace?.part({ name: 'defer', attributes });
      return { label, result: run(fragment, span ?? null) };
    });
    const answer = deferredAnswer({
      format,
      first,
      parts,
      write: (message) => jsonText(message, meter),
      ended: () => last,
      failure: (error) => masked(context, { errors: [asGraphQLError(error)] }),
    });
    operation.events = answer;
    return answer;
  }

  /** The result of a part. It never rejects: a part that fails carries its errors. */
  async function partOf(
    context: OperationContext,
    { args, executor }: Executable,
    client: Client,
    span: TraceSpan | null,
  ): Promise<ExecutionResult> {
    const { meter, values, params } = context.operation;
    const own = meter.part();
    let result: ExecutionResult;
    try {
      if (own.isCostly) await scheduler.turn(client.key);
      result = await executor.execute(args.of(context, values, params.variables), own);
      if (!meter.count(own.fields)) result = { data: null, errors: [meter.error()] };
    } catch (error) {
      result = { data: null, errors: [asGraphQLError(error)] };
    }
    const shown = masked(context, result);
    endSpan(span, shown, codes);
    return shown;
  }

  /** Refuses a costly operation whose client has enough of them under way; else it counts until it is given back. */
  function overCostly({ meter }: Operation, client: Client) {
    if (!meter.isCostly || !limiter.take('largeAnswers', client).isOver) return null;
    return overLimit('costly operations');
  }

  function masked<Result extends object>({ operation }: OperationContext, result: Result): Result {
    return codes.maskedResult(result, operation.transport.record);
  }

  /** The events of a subscription; a result with errors where there are none. */
  function subscribe(context: OperationContext): Promise<Subscribed> {
    return beginEvents(events, limits, context);
  }

  /** The result as it is sent, whatever plugins have made of it. */
  function ended(context: OperationContext, result: Subscribed): Subscribed {
    const { operation } = context;
    const ofSubscription = isSubscription(context);
    // The parts of a deferred answer are still to come; the last one has the receipt.
    if (Symbol.asyncIterator in result && !ofSubscription) return result;
    endSpan(operation.trace, result, codes);
    if (!receipts || ofSubscription) return result;
    const { cost, meter } = operation;
    const own = context.receipt({ cost, fields: meter.fields, waitedMs: 0 });
    if (result instanceof CachedResult) return result.withExtensions(own);
    const { extensions } = result as ExecutionResult;
    return { ...result, extensions: extensions === undefined ? own : { ...own, ...extensions } };
  }

  /** Executes a costly operation in a turn of its own: a hundred may be received in one. */
  function computed(context: OperationContext): MaybePromise<ExecutionResult> {
    const { operation } = context;
    if (!operation.meter.isCostly) return charged(context);
    // Its account may have been proved meanwhile, to look into a cache.
    const client = limits.currentClient(operation);
    const refusal = overCostly(operation, client);
    if (refusal !== null) return { errors: refusal.errors };
    const { meter } = operation;
    return meter
      .begin()
      .then(() => charged(context))
      .finally(() => release(operation, client));
  }

  function release({ meter }: Operation, client: Client): void {
    meter.leave();
    limiter.giveBack('largeAnswers', client);
  }

  function charged(context: OperationContext): MaybePromise<ExecutionResult> {
    const { operation } = context;
    const refusal = limits.overFields(operation);
    const { prepared, params, values, meter } = operation;
    const result =
      refusal === null
        ? prepared.executor.execute(prepared.args.of(context, values, params.variables), meter)
        : { errors: refusal.errors };
    return chain<ExecutionResult, ExecutionResult>(result, (settled) => {
      limits.chargeFields(operation);
      return settled;
    });
  }

  return { execute, subscribe, ended };
}

function isSubscription({ operation }: OperationContext): boolean {
  return operation.prepared.node.operation === 'subscription';
}
