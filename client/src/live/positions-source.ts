import type { Position } from '../generated/rows.ts';
import type { Operation } from '../operation.ts';
import { type FoldedList, foldList } from './fold-list.ts';
import type { LiveSource, LiveVariables } from './live-source.ts';
import type { PositionChanges, PositionChangesData } from './positions-operation.ts';
import { idOf } from './rows.ts';
import { NO_POSITIONS, type PositionsState } from './states.ts';

/** The open positions, as this subscription reports them. */
export function positionsSource(
  operation: Operation<PositionChangesData, LiveVariables>,
): LiveSource<PositionChangesData, PositionChanges, FoldedList<Position>, PositionsState> {
  return {
    operation,
    eventOf: ({ positionChanges }) => positionChanges,
    fold: (state, event, options) => foldList(state, event, idOf, options),
    nothing: NO_POSITIONS,
    shown: ({ rows, totals }) => ({ positions: rows, totals }),
  };
}
