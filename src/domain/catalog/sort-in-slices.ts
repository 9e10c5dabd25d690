import type { Pace } from './pace.ts';

type Compare<T> = (a: T, b: T) => number;

// A run of this length sorts within a millisecond or two.
const RUN = 1_024;
// Reading the clock at each step would cost more than the step.
const STEPS_BETWEEN_LOOKS = 256;

/** A stable merge sort that yields to the event loop: `Array.sort` of 100,000 names would block every request. */
export async function sortInSlices<T>(
  items: readonly T[],
  compare: Compare<T>,
  pace: Pace,
): Promise<T[]> {
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += RUN) {
    if (pace.isDue) await pace.rest();
    runs.push(items.slice(start, start + RUN).sort(compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      const [left = [], right = []] = runs.slice(index, index + 2);
      merged.push(await merge(left, right, compare, pace));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: Compare<T>,
  pace: Pace,
): Promise<T[]> {
  const merged: T[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    if (merged.length % STEPS_BETWEEN_LOOKS === 0 && pace.isDue) await pace.rest();
    const takeLeft =
      r >= right.length || (l < left.length && compare(left[l] as T, right[r] as T) <= 0);
    merged.push((takeLeft ? left[l++] : right[r++]) as T);
  }
  return merged;
}
