export { type FollowedState, type FollowOptions, follow } from './follow/follow.ts';
export type {
  FollowedObservable,
  FollowRequest,
  FollowSink,
  SubscribeClient,
  SubscribeFunction,
} from './follow/subscribe-function.ts';
export type { Position } from './generated/rows.ts';
export type { PositionTotals } from './live/live-source.ts';
export type { PositionsState } from './live/states.ts';
