import type { Position } from '../../gateway/operations/holdings.ts';
import { exactSum } from './exact-sum.ts';

export type PositionTotals = Readonly<ReturnType<typeof totalsOf>>;

/** Exact sums of the gateway's figures. A sum is null if a position lacks the figure, because a partial sum is no total. */
export function totalsOf(positions: readonly Position[]) {
  return {
    count: positions.length,
    invested: total(positions.map(({ invested }) => invested)),
    profit: total(positions.map(({ profit }) => profit)),
  };
}

function total(figures: readonly (number | null)[]): number | null {
  if (!figures.every((figure) => figure !== null)) return null;
  const sum = exactSum(figures);
  // A larger sum is not exact as a double.
  return sum !== null && Math.abs(sum) <= Number.MAX_SAFE_INTEGER ? sum : null;
}
