/** By how much, of itself, the typical value of the last quarter passes that of the quarter before. */
export function growthOf(values: readonly number[]): number {
  const quarter = Math.floor(values.length / 4);
  const before = median(values.slice(-2 * quarter, -quarter));
  return (median(values.slice(-quarter)) - before) / before;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
