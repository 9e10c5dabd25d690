import type { ExecutionResult } from 'graphql';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { OperationContext } from '../admission/operation.ts';
import type { PartResults } from '../documents/compiler/compiling-executor.ts';
import { asGraphQLError } from '../operation/error-masking.ts';
import { LiveResults } from '../operation/live-results.ts';
import { FIELDS_PER_ERROR as FIELDS_PER_PART, withinBudget } from '../operation/meter.ts';
import { EventResults, type EventResultsOptions, type Subscribed } from './event-results.ts';

/** Executes admitted operations: queries and mutations here, the events of subscriptions in `EventResults`. */
export class Execution {
  readonly #parts: EventResultsOptions;
  readonly #events: EventResults;

  constructor(parts: EventResultsOptions) {
    this.#parts = parts;
    this.#events = new EventResults(parts);
  }

  /** Executes a query or a mutation. Returns its result, or its parts. */
  execute(context: OperationContext): MaybePromise<Subscribed> {
    const { isInParts } = context.operation;
    return isInParts ? this.#executeInParts(context) : this.#executeWhole(context);
  }

  subscribe(context: OperationContext): Promise<Subscribed> {
    return this.#events.begin(context);
  }

  /** Adds the operation's receipt (its costs) to the `extensions` of a result, if results report their costs. */
  withReceipt(context: OperationContext, result: Subscribed): Subscribed {
    const { operation } = context;
    const isSubscription = operation.prepared.node.operation === 'subscription';
    // Each event has its own receipt. In a deferred answer the last part has the receipt.
    return isSubscription || Symbol.asyncIterator in result
      ? result
      : this.#withReceipt(context, result);
  }

  #withReceipt(context: OperationContext, result: ExecutionResult): ExecutionResult {
    if (!this.#parts.receipts) return result;
    const { cost, meter } = context.operation;
    const receipt = context.receipt({ cost, fields: meter.fields });
    return { ...result, extensions: { ...receipt, ...result.extensions } };
  }

  /** Executes a query whose deferred fragments follow its first part. All parts share one context. */
  #executeInParts(context: OperationContext): MaybePromise<Subscribed> {
    const { limits, codes } = this.#parts;
    const { operation } = context;
    const { args, meter, prepared, transport } = operation;
    const { partsFormat, record } = transport;
    if (partsFormat === null) throw new Error('the client reads one piece');
    const given = { ...args, contextValue: context };
    limits.chargeEstimate(operation);
    const answer = prepared.executor.executeInParts(given, meter, partsFormat);
    return chain<ExecutionResult | PartResults, Subscribed>(answer, (result) => {
      if (!('initialResult' in result)) {
        limits.chargeFields(operation);
        return withinBudget(result, meter, false);
      }
      return deferredAnswer(result, {
        masked: (part) => codes.maskedResult(part, record),
        last: (part) => this.#withReceipt(context, part),
        charge({ incremental = [] }) {
          // A part takes longer to make than several fields.
          meter.count(FIELDS_PER_PART * incremental.length);
          if (meter.isOver) throw meter.error();
        },
        ended: () => limits.chargeFields(operation),
      });
    });
  }

  #executeWhole(context: OperationContext): MaybePromise<ExecutionResult> {
    const { limits } = this.#parts;
    const { operation } = context;
    const { prepared, args, meter } = operation;
    limits.chargeEstimate(operation);
    return chain(prepared.executor.execute({ ...args, contextValue: context }, meter), (result) => {
      limits.chargeFields(operation);
      return result;
    });
  }
}

interface DeferredAnswerOptions {
  readonly masked: <Part extends object>(part: Part) => Part;
  /** Called with the last part. Returns it with the members that only the last part has. */
  readonly last: (part: ExecutionResult) => ExecutionResult;
  /** Called with each part before it is sent. Throws if the answer must not continue. */
  readonly charge: (part: AnswerPart) => void;
  /** Called once, when the last part has been made or the client has left. */
  readonly ended: () => void;
}

/** A part of an answer, in either format. */
export interface AnswerPart extends ExecutionResult {
  readonly incremental?: readonly object[];
  readonly completed?: readonly object[];
  readonly hasNext: boolean;
}

/** The parts of an answer, masked. */
export function deferredAnswer(
  results: PartResults,
  { masked, last, charge, ended }: DeferredAnswerOptions,
): LiveResults<AnswerPart> {
  function resultOf(part: AnswerPart): ExecutionResult {
    const { incremental, completed, hasNext } = part;
    charge(part);
    const maskedPart = {
      ...masked(part),
      ...(incremental && { incremental: incremental.map(masked) }),
      ...(completed && { completed: completed.map(masked) }),
    };
    return hasNext ? maskedPart : last(maskedPart);
  }

  return new LiveResults(partsOf(results), {
    resultOf,
    lastResult: (error) => {
      const part: AnswerPart = { errors: [asGraphQLError(error)], hasNext: false };
      return last(masked(part));
    },
    ended() {
      // Stops the execution at once: the generator would first wait for the next part.
      fireAndForget('response', results.subsequentResults.return());
      ended();
    },
  });
}

async function* partsOf({ initialResult, subsequentResults }: PartResults) {
  yield initialResult as AnswerPart;
  yield* subsequentResults as AsyncIterable<AnswerPart>;
}
