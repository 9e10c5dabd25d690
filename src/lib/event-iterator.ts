interface EventIteratorOptions<T> {
  /** Called once, by the first `next`: an iterator that nobody reads opens nothing. */
  readonly open: () => void;
  /** Returns the next event; undefined if the reader has to wait for `wake`. */
  readonly take: () => T | undefined;
  /** Called if the event taken last could not be sent. */
  readonly missed?: () => void;
  /** Called once, when an opened iterator ends, whichever side ends it. */
  readonly close: () => void;
}

type Next<T> = IteratorResult<T, undefined>;
const DONE = { done: true, value: undefined } as const;

/** Makes events when its reader asks for them. Nothing is buffered: what a slow reader has missed becomes one event. */
export class EventIterator<T> implements AsyncIterableIterator<T, undefined> {
  readonly #options: EventIteratorOptions<T>;
  #state: 'new' | 'open' | 'ended' = 'new';
  #failure: Error | null = null;
  /** Whether the reader has received the failure. */
  #isReported = false;
  #waiting: PromiseWithResolvers<Next<T>> | null = null;

  constructor(options: EventIteratorOptions<T>) {
    this.#options = options;
  }

  /** The error that has ended the events, even before the reader has asked for it. */
  get failure(): Error | null {
    return this.#failure;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Next<T>> {
    if (this.#state === 'new') {
      this.#state = 'open';
      this.#options.open();
    }
    this.#waiting = Promise.withResolvers<Next<T>>();
    const { promise } = this.#waiting;
    if (this.#state === 'ended') this.#reportEnd();
    else this.wake();
    return promise;
  }

  /** Ends the events for a reader that needs no more. */
  async return(): Promise<Next<T>> {
    this.#isReported = true;
    this.end();
    return DONE;
  }

  missed(): void {
    this.#options.missed?.();
  }

  /** Notifies that there may be an event. */
  wake(): void {
    if (this.#waiting === null || this.#state !== 'open') return;
    const value = this.#options.take();
    // Taking an event can end the iterator.
    if (value === undefined || this.#waiting === null) return;
    this.#waiting.resolve({ done: false, value });
    this.#waiting = null;
  }

  end(failure: Error | null = null): void {
    if (this.#state === 'ended') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'ended';
    this.#failure = failure;
    if (wasOpen) this.#options.close();
    this.#reportEnd();
  }

  #reportEnd(): void {
    if (this.#waiting === null) return;
    if (this.#failure === null || this.#isReported) this.#waiting.resolve(DONE);
    else this.#waiting.reject(this.#failure);
    this.#isReported = true;
    this.#waiting = null;
  }
}
