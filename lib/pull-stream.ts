interface PullStreamOptions<T> {
  /** Called once, by the first pull: a stream that is never read opens nothing. */
  readonly open: () => void;
  /** Returns the next value; undefined where the reader must wait until it is woken. */
  readonly take: () => T | undefined;
  /** Called once, when an opened stream has ended, from either side. */
  readonly close: () => void;
}

/**
 * Receives values synchronously by calling `take` when notified, without a promise and a microtask
 * per `next`.
 */
export interface StreamListener {
  /** Notifies that there may be a value to take. */
  woken(): void;
  /** Notifies, once, that the stream has ended. */
  ended(error: Error | null): void;
}

type Waiter<T> = PromiseWithResolvers<IteratorResult<T, undefined>>;

/**
 * An async iterator that computes values on demand: back-pressure without a queue, so a reader that
 * stops reading accumulates nothing.
 */
export class PullStream<T> implements AsyncIterableIterator<T, undefined> {
  readonly #ending = new AbortController();
  readonly #options: PullStreamOptions<T>;
  readonly #waiters: Waiter<T>[] = [];
  #listener: StreamListener | null = null;
  #state: 'new' | 'open' | 'ended' = 'new';
  #error: Error | null = null;

  constructor(options: PullStreamOptions<T>) {
    this.#options = options;
  }

  /** Aborted when the stream ends: for what is under way with a value that was taken before. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  next(): Promise<IteratorResult<T, undefined>> {
    this.#open();
    if (this.isEnded) return this.#last();
    if (this.#waiters.length === 0) {
      const value = this.#options.take();
      if (value !== undefined) return Promise.resolve({ value, done: false });
      if (this.isEnded) return this.#last();
    }
    const waiter: Waiter<T> = Promise.withResolvers();
    this.#waiters.push(waiter);
    return waiter.promise;
  }

  /** Replaces `next`: the listener is woken, the first time immediately, whenever it may `take`. */
  listen(listener: StreamListener): void {
    this.#open();
    this.#listener = listener;
    if (this.isEnded) listener.ended(this.#takeError());
    else listener.woken();
  }

  /** Returns the current value to the listener. */
  take(): T | undefined {
    return this.#state === 'open' ? this.#options.take() : undefined;
  }

  /** Offers a possible new value to a waiting reader. */
  wake(): void {
    if (this.#listener !== null && this.#state === 'open') this.#listener.woken();
    while (this.#waiters.length > 0) {
      const value = this.#options.take();
      if (value === undefined) return;
      this.#waiters.shift()?.resolve({ value, done: false });
    }
  }

  /** Ends the stream; an error is delivered last. */
  end(error: Error | null = null): void {
    if (this.isEnded) return;
    const wasOpen = this.#state === 'open';
    this.#state = 'ended';
    this.#error = error;
    for (const waiter of this.#waiters.splice(0)) this.#last().then(waiter.resolve, waiter.reject);
    if (wasOpen) this.#options.close();
    this.#ending.abort();
    this.#listener?.ended(this.#takeError());
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.end();
    this.#error = null;
    return this.#last();
  }

  throw(): Promise<IteratorResult<T, undefined>> {
    return this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #open(): void {
    if (this.#state !== 'new') return;
    this.#state = 'open';
    this.#options.open();
  }

  #takeError(): Error | null {
    const error = this.#error;
    this.#error = null;
    return error;
  }

  #last(): Promise<IteratorResult<T, undefined>> {
    const error = this.#takeError();
    return error === null
      ? Promise.resolve({ value: undefined, done: true })
      : Promise.reject(error);
  }
}
