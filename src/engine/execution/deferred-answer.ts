import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { pullStreamOf } from '../../lib/pull-stream.ts';
import type { PartResults } from '../documents/compiler/compiling-executor.ts';
import { asGraphQLError } from '../operation/error-masking.ts';
import type { JsonText } from '../operation/result-sink.ts';
import { FollowedEvents } from './delivery.ts';

interface DeferredAnswerOptions {
  readonly masked: <Part extends object>(part: Part) => Part;
  /** Called with the last part. Returns it with the members that only the last part has. */
  readonly last: (part: object) => object;
  /** Serializes a part. Throws if the answer must not continue. */
  readonly write: (part: object) => MaybePromise<JsonText>;
  /** Called once, when the last part has been sent or the client has left. */
  readonly ended: () => void;
}

/** A part of an answer, in either format. */
export interface AnswerPart {
  readonly incremental?: readonly object[];
  readonly completed?: readonly object[];
  readonly hasNext: boolean;
}

/** Delivers an answer in parts, which a transport follows like the events of a subscription. */
export function deferredAnswer(
  { initialResult, subsequentResults }: PartResults,
  { masked, last, write, ended }: DeferredAnswerOptions,
): FollowedEvents {
  function toSend(part: AnswerPart): object {
    const { incremental, completed, hasNext } = part;
    const maskedPart = {
      ...masked(part),
      ...(incremental && { incremental: incremental.map(masked) }),
      ...(completed && { completed: completed.map(masked) }),
    };
    return hasNext ? maskedPart : last(maskedPart);
  }

  async function* parts(): AsyncGenerator<object, void, void> {
    yield toSend(initialResult);
    for await (const part of subsequentResults) yield toSend(part);
  }

  return new FollowedEvents(pullStreamOf<unknown>(parts()), {
    text: (part) => write(part as object),
    failure: (error) => last(masked({ errors: [asGraphQLError(error)], hasNext: false })),
    ended() {
      // Stops the execution at once: the generator above would first wait for the next part.
      fireAndForget('response', subsequentResults.return());
      ended();
    },
  });
}
