/**
 * Takes steps until the condition holds; throws after this number of steps. A loop over promises without a bound would
 * never end if the code under test is broken, and no time-out could end it.
 */
export async function stepUntil(
  isDone: () => boolean,
  step: () => unknown,
  most: number,
): Promise<void> {
  for (let taken = 0; !isDone(); taken += 1) {
    if (taken === most) throw new Error(`not after ${most} steps: ${isDone}`);
    await step();
  }
}

/** The same values; throws if there are more than this, as of a stream that never waits. */
export async function* atMost<T>(most: number, values: AsyncIterable<T>): AsyncGenerator<T> {
  let count = 0;
  for await (const value of values) {
    count += 1;
    if (count > most) throw new Error(`more than ${most} values were read`);
    yield value;
  }
}
