export interface PullStreamOptions<T> {
  /** Called once, by the first pull: a stream that nobody ever reads holds nothing. */
  readonly open: () => void;
  /** What the reader gets now; undefined where it must wait until it is woken. */
  readonly take: () => T | undefined;
  /** Called once, when a stream that was opened has ended, by either side. */
  readonly close: () => void;
}

type Waiter<T> = PromiseWithResolvers<IteratorResult<T, undefined>>;

/**
 * An async iterator that makes its values when they are asked for. A reader that stops reading
 * therefore leaves nothing behind that could grow.
 */
export class PullStream<T> implements AsyncIterableIterator<T, undefined> {
  readonly #options: PullStreamOptions<T>;
  readonly #waiters: Waiter<T>[] = [];
  #state: 'new' | 'open' | 'ended' = 'new';
  #error: Error | null = null;

  constructor(options: PullStreamOptions<T>) {
    this.#options = options;
  }

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#state === 'new') {
      this.#state = 'open';
      this.#options.open();
    }
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

  /** Something may have changed: hands it to a reader that waits. */
  wake(): void {
    while (this.#waiters.length > 0) {
      const value = this.#options.take();
      if (value === undefined) return;
      this.#waiters.shift()?.resolve({ value, done: false });
    }
  }

  /** Ends the stream; with an error, that is the last thing its reader gets. */
  end(error: Error | null = null): void {
    if (this.isEnded) return;
    const wasOpen = this.#state === 'open';
    this.#state = 'ended';
    this.#error = error;
    for (const waiter of this.#waiters.splice(0)) this.#last().then(waiter.resolve, waiter.reject);
    if (wasOpen) this.#options.close();
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

  #last(): Promise<IteratorResult<T, undefined>> {
    const error = this.#error;
    this.#error = null;
    return error === null
      ? Promise.resolve({ value: undefined, done: true })
      : Promise.reject(error);
  }
}
