import { fireAndForget } from './fire-and-forget.ts';

interface PullStreamOptions<T> {
  /** Called once, by the first listener: an unread stream opens nothing. */
  readonly open: () => void;
  /** Returns the next value; undefined if the reader must wait until it is woken. */
  readonly take: () => T | undefined;
  /** Called if the value taken last could not be delivered. */
  readonly missed?: () => void;
  /** Called once, when an opened stream ends, whichever side ends it. */
  readonly close: () => void;
}

/** The reader of a stream, which is notified synchronously, without a promise and a microtask per value. */
export interface StreamListener {
  /** Notifies that there may be a value to take. */
  woken(): void;
  /** Notifies, once, that the stream has ended. */
  ended(error: Error | null): void;
}

/**
 * Makes values on demand for one listener, which may stop reading. It is an async iterable in name only, because graphql-js
 * requires one.
 */
export class PullStream<T> implements AsyncIterable<T, undefined> {
  readonly #options: PullStreamOptions<T>;
  #listener: StreamListener | null = null;
  #state: 'new' | 'open' | 'ended' = 'new';
  #error: Error | null = null;

  constructor(options: PullStreamOptions<T>) {
    this.#options = options;
  }

  /** Wakes the listener, the first time immediately, whenever it may call `take`. */
  listen(listener: StreamListener): void {
    if (this.#state === 'new') {
      this.#state = 'open';
      this.#options.open();
    }
    this.#listener = listener;
    if (this.#state === 'ended') listener.ended(this.#error);
    else listener.woken();
  }

  take(): T | undefined {
    return this.#state === 'open' ? this.#options.take() : undefined;
  }

  missed(): void {
    this.#options.missed?.();
  }

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
    this.#listener?.ended(error);
  }

  /** Ends the stream for a reader that needs no more events. */
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
      if (taken === null) return undefined;
      // An event of undefined becomes null, because undefined means that there is no event.
      return taken.value ?? (null as T);
    },
    close: () => fireAndForget('live feed', Promise.resolve(iterator?.return?.())),
  });
  return stream;
}
