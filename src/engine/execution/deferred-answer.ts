import type { ExecutionResult } from 'graphql';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { PartResults } from '../documents/compiler/compiling-executor.ts';
import { asGraphQLError } from '../operation/error-masking.ts';
import { LiveResults } from '../operation/live-results.ts';

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
