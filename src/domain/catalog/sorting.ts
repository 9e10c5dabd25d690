import type { FairScheduler } from '../../lib/fair-scheduler.ts';

/** Compares by code units, in every locale alike: a cursor means the same position on every replica. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Binary search: the first index of a range for which `holds` is true, or the range's end. */
export function firstWhere(from: number, to: number, holds: (at: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// A run of this length sorts within a millisecond or two.
const RUN = 1_024;
// Reading the clock at each step would cost more than the step.
const STEPS_BETWEEN_LOOKS = 256;

/** A stable merge sort that yields to the event loop: `Array.sort` of 100,000 names would block every request. */
export async function sortInSlices<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  scheduler: FairScheduler,
): Promise<T[]> {
  if (items.length <= RUN) {
    if (scheduler.isSliceOver()) await scheduler.turn('catalog');
    return items.toSorted(compare);
  }
  const middle = items.length >>> 1;
  const left = await sortInSlices(items.slice(0, middle), compare, scheduler);
  const right = await sortInSlices(items.slice(middle), compare, scheduler);
  const merged: T[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    if (merged.length % STEPS_BETWEEN_LOOKS === 0 && scheduler.isSliceOver())
      await scheduler.turn('catalog');
    const takesLeft = compare(left[l] as T, right[r] as T) <= 0;
    merged.push((takesLeft ? left[l++] : right[r++]) as T);
  }
  return merged.concat(left.slice(l), right.slice(r));
}
