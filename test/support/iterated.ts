import type { PullStream } from '../../src/lib/pull-stream.ts';

/** Reads a stream as an iterator, which takes each value on demand. */
export async function* iterated<T>(stream: PullStream<T>): AsyncGenerator<T, undefined> {
  let end: { readonly error: Error | null } | null = null;
  let wake = () => {};
  // `end` is read by a function, because the compiler does not know that a callback sets it.
  const ended = () => end;
  stream.listen({
    woken: () => wake(),
    ended(error) {
      end = { error };
      wake();
    },
  });
  try {
    for (;;) {
      const value = stream.take();
      const streamEnd = ended();
      if (value !== undefined) yield value;
      else if (streamEnd !== null) {
        if (streamEnd.error !== null) throw streamEnd.error;
        return undefined;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    stream.leave();
  }
}
