import type { ExecutionResult } from 'graphql';
import { after, type Eventually } from '../../lib/eventually.ts';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import type { Refusal } from '../admission/refusal.ts';
import type { ErrorCodes } from '../errors/error-codes.ts';
import type { ClientLimits } from '../limits/client-limits.ts';
import { overLimit } from '../limits/over-limit-error.ts';
import type { LiveResults, Subscribed } from '../live/live-results.ts';
import type { CachedResponses } from '../response-cache/cached-responses.ts';
import { CachedResult } from '../response-cache/response-cache.ts';
import { beginTrace, endTrace } from '../traces/operation-traces.ts';

const CROWDED_RETRY_SECONDS = 5;

export interface ExecutionParts {
  readonly limits: ClientLimits;
  readonly scheduler: FairScheduler;
  readonly codes: ErrorCodes;
  readonly responses: CachedResponses;
  readonly live: LiveResults;
  /** True when results report what they cost. */
  readonly receipts: boolean;
}

/** An operation that is admitted, and that plugins have parsed and validated where there are any. */
export interface OpenedOperation {
  readonly operation: Operation;
  /** The result, or the events of a subscription. */
  start(): Eventually<Subscribed | Refusal>;
}

/**
 * Executes admitted operations, on every transport: queries and mutations by compiled code once they recur, and the events
 * of subscriptions each once for all subscribers who may share its result.
 */
export class Execution {
  readonly #parts: ExecutionParts;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
  }

  /** The result, or the events of a subscription. */
  start(context: OperationContext): Eventually<Subscribed> {
    beginTrace(context.operation);
    const started = isSubscription(context) ? this.subscribe(context) : this.execute(context);
    return after<Subscribed, Subscribed>(started, (result) => this.ended(context, result));
  }

  /** The result of a query or a mutation, with its errors masked. */
  execute(context: OperationContext): Eventually<ExecutionResult> {
    const { codes, responses } = this.#parts;
    const { record } = context.operation.transport;
    // A cached response waits for no turn.
    const answered = responses.answer(context, this.#computed);
    return after(answered, (result) => codes.maskedResult(result, record));
  }

  /** The events of a subscription; a result with masked errors where there are none. */
  async subscribe(context: OperationContext): Promise<Subscribed> {
    const { codes, live } = this.#parts;
    const subscribed = await live.subscribe(context);
    return codes.maskedResult(subscribed, context.operation.transport.record);
  }

  /** The result as it is sent; call it once whatever other plugins make of it is made. */
  ended<Result extends object>(
    context: OperationContext,
    result: Result,
  ): Result | ExecutionResult {
    const { codes, receipts } = this.#parts;
    const { operation } = context;
    endTrace(operation, result, codes);
    if (!receipts || isSubscription(context)) return result;
    const { cost, meter } = operation;
    const extensions = context.receipt({ cost, fields: meter.fields, waitedMs: 0 });
    if (result instanceof CachedResult) return result.withExtensions(extensions);
    return { ...result, extensions };
  }

  /** Executes a costly operation in a turn of its own: a hundred may be received in one. */
  readonly #computed = (context: OperationContext): Eventually<ExecutionResult> => {
    const { scheduler, limits } = this.#parts;
    const { limiter } = limits;
    const { operation } = context;
    if (!operation.meter.isCostly) return this.#charged(context);
    // Its account may have been proved meanwhile, to look into a cache.
    const client = limits.currentClient(operation);
    if (limiter.take('largeAnswers', client).isOver) {
      return { errors: overLimit('costly operations', CROWDED_RETRY_SECONDS).errors };
    }
    const release = () => limiter.giveBack('largeAnswers', client);
    return scheduler.run(client.key, () => this.#charged(context)).finally(release);
  };

  #charged(context: OperationContext): Eventually<ExecutionResult> {
    const { limits } = this.#parts;
    const { operation } = context;
    const refusal = limits.overFields(operation);
    const result = refusal === null ? executed(context) : { errors: refusal.errors };
    return after<ExecutionResult, ExecutionResult>(result, (settled) => {
      limits.chargeFields(operation);
      return settled;
    });
  }
}

function isSubscription({ operation }: OperationContext): boolean {
  return operation.prepared.node.operation === 'subscription';
}

function executed(context: OperationContext): Eventually<ExecutionResult> {
  const { prepared, params, values, meter } = context.operation;
  return prepared.executor.execute(prepared.args.of(context, values, params.variables), meter);
}
