import type { Core } from '../core.ts';
import type { LiveFields, LiveNames } from './chosen-fields.ts';
import { polledList } from './fold-list.ts';
import { createFollowed, type Followed, type FollowOptions } from './followed.ts';
import { positionsDocuments } from './positions-operation.ts';
import { positionsSource } from './positions-source.ts';
import type { PositionsState } from './states.ts';

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
  return createFollowed(core, { ...positionsSource(subscription), query, polled: polledList });
}
