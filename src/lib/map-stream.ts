import type { Eventually } from './eventually.ts';
export interface StreamMap<In, Out> {
  readonly value: (value: In) => Eventually<Out>;
  /**
   * Maps a failure of the source to a last value, or null for a plain end. Left out, the stream
   * rejects.
   */
  readonly failure?: (error: unknown) => Out | null;
  /** Called when the stream has ended, for any reason, perhaps more than once. */
  readonly ended?: () => void;
}

/** Maps each value of a stream. */
export function mapStream<In, Out>(
  source: AsyncIterable<In>,
  map: StreamMap<In, Out>,
): AsyncGenerator<Out, void, void> {
  return new MappedStream(source[Symbol.asyncIterator](), map);
}

const END: IteratorReturnResult<void> = { done: true, value: undefined };

/**
 * Unlike a generator's, its `return` ends the source immediately, even while a `next` is pending: a
 * closed subscription to a quiet stream must not wait for its next event.
 */
export class MappedStream<In, Out> implements AsyncGenerator<Out, void, void> {
  readonly #source: AsyncIterator<In>;
  readonly #map: StreamMap<In, Out>;
  #isEnded = false;

  constructor(source: AsyncIterator<In>, map: StreamMap<In, Out>) {
    this.#source = source;
    this.#map = map;
  }

  async next(): Promise<IteratorResult<Out, void>> {
    if (this.#isEnded) return END;
    try {
      const step = await this.#source.next();
      if (!step.done) return { done: false, value: await this.#map.value(step.value) };
      this.#end();
      return END;
    } catch (error) {
      this.#end();
      if (!this.#map.failure) throw error;
      const last = this.#map.failure(error);
      return last === null ? END : { done: false, value: last };
    }
  }

  async return(): Promise<IteratorResult<Out, void>> {
    this.#end();
    await this.#source.return?.();
    return END;
  }

  async throw(error: unknown): Promise<IteratorResult<Out, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #end(): void {
    this.#isEnded = true;
    this.#map.ended?.();
  }
}
