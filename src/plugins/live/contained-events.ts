import type { FollowedEvents } from './delivery.ts';

type Over = IteratorReturnResult<void>;

const OVER: Over = { done: true, value: undefined };

/**
 * The events of a subscription as other plugins hand them on. Whatever their iterator throws ends this subscription
 * alone, and its source in any case.
 */
export class ContainedEvents implements AsyncGenerator<never, void, void> {
  readonly #events: FollowedEvents;
  readonly #fault: (error: unknown) => void;
  readonly #theirs: AsyncIterable<unknown>;
  #iterator: AsyncIterator<unknown> | null = null;
  #running: Promise<Over> | null = null;

  constructor(
    theirs: AsyncIterable<unknown>,
    events: FollowedEvents,
    fault: (error: unknown) => void,
  ) {
    this.#theirs = theirs;
    this.#events = events;
    this.#fault = fault;
  }

  next(): Promise<Over> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async return(): Promise<Over> {
    try {
      await this.#iterator?.return?.();
    } catch (error) {
      this.#fault(error);
    }
    await this.#events.leave();
    return OVER;
  }

  async throw(error: unknown): Promise<Over> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Results bypass the iterator: one that it yields is a plugin's own, which nobody asked for. */
  async #run(): Promise<Over> {
    try {
      this.#iterator = this.#theirs[Symbol.asyncIterator]();
      while (!(await this.#iterator.next()).done);
    } catch (error) {
      await this.#events.fail(error);
    }
    return OVER;
  }
}
