import type { Core } from '../core.ts';
import type { Position } from '../generated/rows.ts';
import type { LiveFields, LiveNames } from './chosen-fields.ts';
import { type FoldedList, foldList, polledList } from './fold-list.ts';
import { createFollowed, type Followed, type FollowOptions } from './followed.ts';
import { positionsDocuments } from './positions-operation.ts';
import { idOf } from './rows.ts';
import { NO_POSITIONS, type PositionsState } from './states.ts';

/** Receives the state soon after the listener was added, and then after each change. */
export type PositionsListener = (state: PositionsState) => void;

/** The options with which positions and the account are followed. */
export type PositionsOptions = FollowOptions;

/** Follows the open positions. */
export type Positions<Names extends LiveNames = LiveNames> = Followed<PositionsState<Names>>;

export function createPositions<Names extends LiveNames = LiveNames>(
  core: Core,
  fields: LiveFields<Names> = {},
): Positions<Names> {
  const { subscription, query } = positionsDocuments(fields);
  return createFollowed(core, {
    operation: subscription,
    query,
    eventOf: ({ positionChanges }) => positionChanges,
    fold: (state: FoldedList<Position> | null, event, options) =>
      foldList(state, event, idOf, options),
    polled: polledList,
    nothing: NO_POSITIONS,
    shown: ({ rows, totals }) => ({ positions: rows, totals }),
  });
}
