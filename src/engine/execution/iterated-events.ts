import type { ExecutionResult } from 'graphql';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { pullStreamOf } from '../../lib/pull-stream.ts';
import type { JsonText, OperationEvents } from '../operation/result-sink.ts';
import { FollowedEvents } from './delivery.ts';

/** Yields the results of a subscription for plugins. Each is a copy, because other subscribers receive the same text. */
export async function* iterated(events: OperationEvents): AsyncGenerator<ExecutionResult, void> {
  let next = Promise.withResolvers<JsonText | null>();
  let taken = () => {};
  const delivered = events.deliver({
    hasRoom: () => true,
    send(text, done) {
      taken = done;
      next.resolve(text);
    },
  });
  fireAndForget(
    'response',
    delivered.then(() => next.resolve(null)),
  );
  try {
    for (let text = await next.promise; text !== null; text = await next.promise) {
      next = Promise.withResolvers();
      yield JSON.parse(text);
      taken();
    }
  } finally {
    events.leave();
  }
}

/** Delivers to a transport the results that a plugin's iterator yields. `source`: the events that the iterator reads. */
export function iteratedEvents(
  results: AsyncIterable<ExecutionResult>,
  source: OperationEvents | null,
  failure: (error: unknown) => ExecutionResult,
): OperationEvents {
  return new FollowedEvents(pullStreamOf<unknown>(results), {
    text: (result) => JSON.stringify(result),
    failure,
    ended: () => source?.leave(),
  });
}
