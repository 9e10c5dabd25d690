import { fireAndForget } from './fire-and-forget.ts';

interface PullStreamOptions<T> {
  /** Called once, by the first listener: a stream that is never read opens nothing. */
  readonly open: () => void;
  /** Returns the next value; undefined where the reader must wait until it is woken. */
  readonly take: () => T | undefined;
  /** Called where the value that was taken last could not be shown. */
  readonly missed?: () => void;
  /** Called once, when an opened stream has ended, from either side. */
  readonly close: () => void;
}

/** The reader of a stream, which is notified synchronously, without a promise and a microtask per value. */
export interface StreamListener {
  /** Notifies that there may be a value to take. */
  woken(): void;
  /** Notifies, once, that the stream has ended. */
  ended(error: Error | null): void;
}

/** Makes values on demand, for one listener that may stop reading. By its name alone an async iterable, as results must be. */
export class PullStream<T> implements AsyncIterable<T, undefined> {
  readonly #ending = new AbortController();
  readonly #options: PullStreamOptions<T>;
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

  /** The listener is woken, the first time immediately, whenever it may `take`. */
  listen(listener: StreamListener): void {
    if (this.#state === 'new') {
      this.#state = 'open';
      this.#options.open();
    }
    this.#listener = listener;
    if (this.#state === 'ended') listener.ended(this.#error);
    else listener.woken();
  }

  /** Returns the current value to the listener. */
  take(): T | undefined {
    return this.#state === 'open' ? this.#options.take() : undefined;
  }

  /** Tells the stream that the value taken last could not be shown. */
  missed(): void {
    this.#options.missed?.();
  }

  /** Tells the listener of a possible new value. */
  wake(): void {
    if (this.#state === 'open') this.#listener?.woken();
  }

  /** Ends the stream; an error is delivered last. */
  end(error: Error | null = null): void {
    if (this.#state === 'ended') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'ended';
    this.#error = error;
    if (wasOpen) this.#options.close();
    // Node makes an error with its stack for an abort that has no reason.
    this.#ending.abort(error);
    this.#listener?.ended(error);
  }

  /** Ends the stream for its reader, who wants to know nothing more. */
  leave(): void {
    this.end();
    this.#error = null;
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    throw new Error('a stream is read by its listener');
  }
}

/** Reads any async iterable, such as a generator, one value ahead of the listener. */
export function pullStreamOf<T>(values: AsyncIterable<T>): PullStream<T> {
  let iterator: AsyncIterator<T> | null = null;
  let next: { readonly value: T } | null = null;

  async function read(): Promise<void> {
    try {
      iterator ??= values[Symbol.asyncIterator]();
      const { done, value } = await iterator.next();
      if (done) return stream.end();
      next = { value };
      stream.wake();
    } catch (error) {
      stream.end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  const stream = new PullStream<T>({
    open: () => fireAndForget('live feed', read()),
    take() {
      const taken = next;
      next = null;
      if (taken !== null) fireAndForget('live feed', read());
      // A value of nothing is an event too.
      return taken === null ? undefined : (taken.value ?? (null as T));
    },
    close: () => fireAndForget('live feed', Promise.resolve(iterator?.return?.())),
  });
  return stream;
}
