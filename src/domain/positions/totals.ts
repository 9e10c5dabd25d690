import type { Position } from '../../gateway/model.ts';
import { exactSum } from '../../lib/exact-sum.ts';

export interface PositionTotals {
  readonly count: number;
  readonly invested: number | null;
  readonly profit: number | null;
}

/** Exact sums of the gateway's figures; null where a position lacks one, since a partial sum is no total. */
export function totalsOf(positions: readonly Position[]): PositionTotals {
  return {
    count: positions.length,
    invested: total(positions.map(({ invested }) => invested)),
    profit: total(positions.map(({ profit }) => profit)),
  };
}

function total(figures: readonly (number | null)[]): number | null {
  return figures.every((figure) => figure !== null) ? exactSum(figures) : null;
}
