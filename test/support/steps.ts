/**
 * Takes steps until the condition holds; throws after this number of steps. A loop over promises without a bound would
 * never end if the code under test is broken, and no time-out could end it.
 */
export async function stepUntil(
  isDone: () => boolean,
  step: () => unknown,
  maxSteps: number,
): Promise<void> {
  for (let steps = 0; !isDone(); steps += 1) {
    if (steps === maxSteps) throw new Error(`not after ${maxSteps} steps: ${isDone}`);
    await step();
  }
}

/** The same values. Throws if there are more than `max`, because the loop over a stream that never waits would not end. */
export async function* atMost<T>(max: number, values: AsyncIterable<T>): AsyncGenerator<T> {
  let count = 0;
  for await (const value of values) {
    count += 1;
    if (count > max) throw new Error(`more than ${max} values were read`);
    yield value;
  }
}
