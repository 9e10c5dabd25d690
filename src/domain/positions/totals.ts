import type { Position } from '../../gateway/model.ts';

export interface PositionTotals {
  readonly count: number;
  readonly invested: number | null;
  readonly profit: number | null;
}

/** Plain sums of the gateway's figures; null where a position lacks one, since a partial sum is no total. */
export function totalsOf(positions: readonly Position[]): PositionTotals {
  let invested: number | null = 0;
  let profit: number | null = 0;
  for (const position of positions) {
    invested = sum(invested, position.invested);
    profit = sum(profit, position.profit);
  }
  return { count: positions.length, invested, profit };
}

function sum(total: number | null, figure: number | null): number | null {
  return total === null || figure === null ? null : total + figure;
}
