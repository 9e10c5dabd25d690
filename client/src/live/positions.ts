import type { Core } from '../core.ts';
import { type FoldedPositions, foldPositions } from './fold-positions.ts';
import { createFollowed, type Followed, type FollowOptions } from './followed.ts';
import type { LiveSource } from './live-source.ts';
import {
  POSITION_CHANGES,
  type PositionChanges,
  type PositionChangesData,
} from './positions-operation.ts';
import { NO_POSITIONS, type PositionsState } from './positions-state.ts';

/** Receives the state soon after it began to listen, and then each time that it has changed. */
export type PositionsListener = (state: PositionsState) => void;

export type PositionsOptions = FollowOptions;

/** Follows the open positions. */
export type Positions = Followed<PositionsState>;

const SOURCE: LiveSource<PositionChangesData, PositionChanges, FoldedPositions, PositionsState> = {
  operation: POSITION_CHANGES,
  eventOf: ({ positionChanges }) => positionChanges,
  fold: foldPositions,
  nothing: NO_POSITIONS,
  shown: ({ positions, totals, asOf }) => ({ positions, totals, asOf }),
};

export function createPositions(core: Core): Positions {
  return createFollowed(core, SOURCE);
}
