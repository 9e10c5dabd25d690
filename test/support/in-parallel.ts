/** Runs a task for each number from 0, with this many at a time. */
export async function inParallel<T>(
  times: number,
  atOnce: number,
  task: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    while (next < times) {
      const index = next;
      next += 1;
      results[index] = await task(index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
