import type { ExecutionResult } from 'graphql';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { OperationServices } from '../admission/admission.ts';
import type { OperationContext } from '../admission/operation.ts';
import { errorsOf } from '../core/error-masking.ts';
import { FIELDS_PER_PART, withinBudget } from '../core/meter.ts';
import { type Answer, ResultIterator } from '../core/result-iterator.ts';
import type { PartResults } from '../documents/compiler/compiling-executor.ts';

/** A part of an answer, in either format. */
interface AnswerPart extends ExecutionResult {
  readonly incremental?: readonly object[];
  readonly completed?: readonly object[];
  readonly hasNext: boolean;
}

/** Executes an admitted query or mutation. Returns its result, or the parts of an answer. */
export async function execute(
  services: OperationServices,
  context: OperationContext,
): Promise<Answer> {
  const { limits } = services;
  const { operation } = context;
  const { args, meter, partsFormat, prepared } = operation;
  const given = { ...args, contextValue: context };
  limits.chargeEstimate(operation);
  if (partsFormat === null) {
    const result = await prepared.executor.execute(given, meter);
    limits.chargeFields(operation);
    if (prepared.node.operation === 'mutation') operation.mutation = { ...result.data };
    return result;
  }
  const result = await prepared.executor.executeInParts(given, meter, partsFormat);
  if (!('initialResult' in result)) {
    limits.chargeFields(operation);
    return withinBudget(result, meter, false);
  }
  operation.results = partsOf(result, services, context);
  return operation.results;
}

/** The parts of an answer, masked. All parts share one context, and the last part has the receipt. */
function partsOf(
  results: PartResults,
  { limits, masking, receipts }: OperationServices,
  context: OperationContext,
): ResultIterator<AnswerPart> {
  const { operation } = context;
  const { meter, transport } = operation;
  const masked = <Part extends object>(part: Part) => masking.maskedResult(part, transport.summary);
  return new ResultIterator(eachPart(results), {
    resultOf(part) {
      const { incremental = [], completed, hasNext } = part;
      meter.count(FIELDS_PER_PART * incremental.length);
      if (meter.isOver) throw meter.error();
      const shown = {
        ...masked(part),
        ...(incremental.length > 0 && { incremental: incremental.map(masked) }),
        ...(completed && { completed: completed.map(masked) }),
      };
      return hasNext || !receipts ? shown : withReceipt(context, shown);
    },
    lastResult(error) {
      const part = masked({ errors: errorsOf(error), hasNext: false });
      return receipts ? withReceipt(context, part) : part;
    },
    ended() {
      // Stops the execution at once: the generator would first wait for the next part.
      fireAndForget('response', results.subsequentResults.return());
      limits.chargeFields(operation);
    },
  });
}

/** Adds the operation's receipt (its costs) to the `extensions` of a result. */
export function withReceipt(context: OperationContext, result: ExecutionResult): ExecutionResult {
  const { facts, meter } = context.operation;
  const receipt = context.receipt(facts.cost, meter.fields);
  return { ...result, extensions: { ...receipt, ...result.extensions } };
}

async function* eachPart({ initialResult, subsequentResults }: PartResults) {
  yield initialResult as AnswerPart;
  yield* subsequentResults as AsyncIterable<AnswerPart>;
}
