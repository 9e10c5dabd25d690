import type { Position } from '../generated/rows.ts';
import type { LiveNames } from './chosen-fields.ts';
import type { LiveState, PositionTotals } from './live-source.ts';

/** The open positions as far as they are known; the same object until something changes. */
export interface PositionsState<Names extends LiveNames = LiveNames> extends LiveState {
  /** In the server's order; a position that has not changed is the same object as before. */
  readonly positions: readonly Pick<Position, Names['position'] | 'id'>[];
  /** Null before the first list. */
  readonly totals: PositionTotals | null;
}

export const NO_POSITIONS: PositionsState = Object.freeze({
  positions: Object.freeze([]),
  totals: null,
  status: 'OFFLINE',
  asOf: null,
  error: null,
});
