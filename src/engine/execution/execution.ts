import type { ExecutionResult } from 'graphql';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Client } from '../../lib/limits/client.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import type { PartResults } from '../documents/documents.ts';
import { asGraphQLError, type ErrorCodes } from '../operation/error-codes.ts';
import { withinBudget } from '../operation/meter.ts';
import { overLimit } from '../operation/over-limit-error.ts';
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
  const { limits, codes, events, receipts } = parts;
  const { limiter } = limits;

  /** The result of a query or a mutation, or its parts. */
  function execute(context: OperationContext): MaybePromise<Subscribed> {
    if (context.operation.isInParts) return executeInParts(context);
    // A cached response waits for no turn.
    return cachedAnswer(parts, context, computed);
  }

  /** Executes a query whose deferred fragments follow its first part, with one context for all. */
  function executeInParts(context: OperationContext): MaybePromise<Subscribed> {
    const { operation } = context;
    const { meter, params, prepared, transport, values } = operation;
    const { deferArgs, executor } = prepared;
    const { partsFormat } = transport;
    if (deferArgs === null || partsFormat === null) throw new Error('nothing is deferred');
    const given = deferArgs.of(context, values, params.variables);
    const begin = () => executor.executeInParts(given, meter, partsFormat);
    return chain<ExecutionResult | PartResults, Subscribed>(begin(), (result) => {
      if (!('initialResult' in result)) {
        limits.chargeFields(operation);
        return withinBudget(result, meter, false);
      }
      let hasEnded = false;
      const end = (last: ExecutionResult) => {
        hasEnded = true;
        return ended(context, last) as ExecutionResult;
      };
      operation.events = deferredAnswer(result, {
        masked: (part) => masked(context, part),
        made() {
          if (meter.isOverNow()) throw meter.error();
          transport.record.partMade();
        },
        last: () => end({}),
        write: (part) => jsonText(part, meter),
        failure: (error) => end(masked(context, { errors: [asGraphQLError(error)] })),
        ended() {
          limits.chargeFields(operation);
          // Its client has left.
          if (!hasEnded) end({});
        },
      });
      return operation.events;
    });
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
    const own = context.receipt({ cost, fields: meter.fields });
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
