import type { ExecutionResult } from 'graphql';
import type { PullStream, StreamListener } from '../../lib/pull-stream.ts';

/** Takes results, one at a time. */
export interface ResultSink {
  /** False where the reader has enough unread: then `ready` is called when there may be room. */
  hasRoom(ready: () => void): boolean;
  /** `left` is called when the next may come: at once, or when the reader has taken this one. */
  send(result: string, left: () => void): void;
}

export interface DeliveryOptions {
  readonly sink: ResultSink;
  readonly text: (event: unknown) => string | Promise<string>;
  /** What a failure becomes: a last result, or null where nothing is to be said. */
  readonly failure: (error: unknown) => ExecutionResult | null;
  /** Ends the source, if it has not ended. */
  readonly leave: () => Promise<unknown>;
}

type Over = IteratorReturnResult<void>;

const OVER: Over = { done: true, value: undefined };

/**
 * Passes results from a stream to a transport in the very turn in which an event comes. As an
 * iterator it brings nothing, and ends when the stream has; so those who iterate know when it is over.
 */
export class Delivery implements AsyncGenerator<never, void, void>, StreamListener {
  readonly #events: PullStream<unknown>;
  readonly #options: DeliveryOptions;
  readonly #over = Promise.withResolvers<Over>();
  readonly #left = () => this.#sent();
  #hasBegun = false;
  /** A result is being made, its reader has not taken it, or there is no room for it yet. */
  #isBusy = false;
  #isWoken = false;
  #isOver = false;
  #end: { readonly error: unknown } | null = null;

  constructor(events: PullStream<unknown>, options: DeliveryOptions) {
    this.#events = events;
    this.#options = options;
  }

  next(): Promise<Over> {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#events.listen(this);
    }
    return this.#over.promise;
  }

  async return(): Promise<Over> {
    this.#isOver = true;
    this.#over.resolve(OVER);
    await this.#options.leave();
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

  woken(): void {
    // Whatever comes meanwhile is merged behind what is being taken.
    this.#isWoken = this.#isBusy;
    if (this.#isBusy || this.#isOver) return;
    if (!this.#options.sink.hasRoom(this.#left)) {
      this.#isBusy = true;
      this.#isWoken = true;
      return;
    }
    const event = this.#events.take();
    if (event === undefined) return;
    this.#isBusy = true;
    this.#tell(event);
  }

  ended(error: Error | null): void {
    this.#end ??= { error };
    if (!this.#isBusy) this.#finish(this.#end.error);
  }

  #tell(event: unknown): void {
    try {
      const text = this.#options.text(event);
      if (typeof text === 'string') this.#options.sink.send(text, this.#left);
      else this.#sendLater(text);
    } catch (error) {
      this.#finish(error);
    }
  }

  #sendLater(text: Promise<string>): void {
    text
      .then((arrived) => {
        // Who has left meanwhile is told nothing more.
        if (!this.#isOver) this.#options.sink.send(arrived, this.#left);
      })
      // A stream that has ended has said why to its listener alone.
      .catch((error: unknown) => this.#finish(this.#end === null ? error : this.#end.error));
  }

  #sent(): void {
    this.#isBusy = false;
    if (this.#end) this.#finish(this.#end.error);
    else if (this.#isWoken) this.woken();
  }

  #finish(error: unknown): void {
    const { sink, failure } = this.#options;
    this.#isBusy = true;
    const last = error === null ? null : failure(error);
    if (last !== null) sink.send(JSON.stringify(last), () => void this.return());
    else void this.return();
  }
}
