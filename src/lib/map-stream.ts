export interface StreamMap<In, Out> {
  readonly value: (value: In) => Out | Promise<Out>;
  /** What a failing source becomes: a last value, or null for a plain end. Left out, the failure passes. */
  readonly failure?: (error: unknown) => Out | null;
  /** Called when there will be no more values, for whichever reason; perhaps more than once. */
  readonly ended?: () => void;
}

/**
 * Maps a stream. Unlike a generator's, its `return` reaches the source at once, also while a `next`
 * is pending: who leaves a quiet stream must not stay subscribed until its next event.
 */
export function mapStream<In, Out>(
  source: AsyncIterable<In>,
  { value, failure, ended: tellEnd }: StreamMap<In, Out>,
): AsyncGenerator<Out, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  const END: IteratorReturnResult<void> = { done: true, value: undefined };
  let ended = false;

  function end(): void {
    ended = true;
    tellEnd?.();
  }

  async function next(): Promise<IteratorResult<Out, void>> {
    if (ended) return END;
    try {
      const step = await iterator.next();
      if (!step.done) return { done: false, value: await value(step.value) };
      end();
      return END;
    } catch (error) {
      end();
      if (!failure) throw error;
      const last = failure(error);
      return last === null ? END : { done: false, value: last };
    }
  }

  async function leave(): Promise<IteratorResult<Out, void>> {
    end();
    await iterator.return?.();
    return END;
  }

  return {
    next,
    return: leave,
    async throw(error: unknown) {
      await leave();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await leave();
    },
  };
}
