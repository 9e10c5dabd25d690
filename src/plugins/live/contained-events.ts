import type { FollowedEvents } from './delivery.ts';

const OVER: IteratorReturnResult<void> = { done: true, value: undefined };

/**
 * The events of a subscription as other plugins hand them on. Whatever their iterator throws ends this subscription
 * alone, and its source in any case. Results bypass it: what it yields nobody asked for.
 */
export function containedEvents(
  theirs: AsyncIterable<unknown>,
  events: FollowedEvents,
  fault: (error: unknown) => void,
): AsyncGenerator<never, void, void> {
  const iterator = theirs[Symbol.asyncIterator]();
  let running: Promise<typeof OVER> | null = null;
  async function run() {
    try {
      while (!(await iterator.next()).done);
    } catch (error) {
      await events.fail(error);
    }
    return OVER;
  }
  async function leave() {
    try {
      await iterator.return?.();
    } catch (error) {
      fault(error);
    }
    await events.leave();
    return OVER;
  }
  return {
    next() {
      running ??= run();
      return running;
    },
    return: leave,
    throw: (error) => leave().then(() => Promise.reject(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: () => leave().then(() => undefined),
  };
}
