/** Runs a task for each index below `times`, at most `atOnce` of them at a time. */
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
