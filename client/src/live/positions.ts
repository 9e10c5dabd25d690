import type { Core } from '../core.ts';
import type { LiveFields, LiveNames } from './chosen-fields.ts';
import { type FoldedPositions, foldPositions } from './fold-positions.ts';
import { createFollowed, type Followed, type FollowOptions } from './followed.ts';
import { positionsDocument } from './positions-operation.ts';
import { NO_POSITIONS, type PositionsState } from './states.ts';

/** Receives the state soon after it began to listen, and then each time that it has changed. */
export type PositionsListener = (state: PositionsState) => void;

export type PositionsOptions = FollowOptions;

/** Follows the open positions. */
export type Positions<Names extends LiveNames = LiveNames> = Followed<PositionsState<Names>>;

export function createPositions<Names extends LiveNames = LiveNames>(
  core: Core,
  fields: LiveFields<Names> = {},
): Positions<Names> {
  return createFollowed(core, {
    operation: positionsDocument(fields),
    eventOf: ({ positionChanges }) => positionChanges,
    fold: foldPositions,
    nothing: NO_POSITIONS,
    shown: ({ positions, totals, asOf }: FoldedPositions) => ({ positions, totals, asOf }),
  });
}
