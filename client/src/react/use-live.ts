import { useCallback, useRef, useSyncExternalStore } from 'react';
import type { Position } from '../generated/rows.ts';
import type { LiveAccount } from '../live/account.ts';
import type { LiveNames } from '../live/chosen-fields.ts';
import type { Followed, FollowOptions } from '../live/followed.ts';
import type { Positions } from '../live/positions.ts';
import { idOf, rowOf } from '../live/rows.ts';
import {
  type AccountState,
  NO_ACCOUNT,
  NO_POSITIONS,
  type PositionsState,
} from '../live/states.ts';
import { featureOf } from './any-client.ts';
import { useProvided } from './provider.ts';

/**
 * Follows the open positions while the component is mounted. All components share one subscription, with the shortest of
 * their intervals. If the client follows only some fields, pass their names as the type argument.
 */
export function usePositions<Names extends LiveNames = LiveNames>(
  options: FollowOptions = {},
): PositionsState<Names> {
  const followed = featureOf(useProvided(), 'positions');
  return useFollowed(followed as Positions<Names>, NO_POSITIONS, options, itself);
}

/**
 * Follows one open position in the same way: the component renders when this position has changed. Undefined if the position
 * does not exist, or is not known yet.
 */
export function usePosition<Names extends LiveNames = LiveNames>(
  id: string,
  options: FollowOptions = {},
): Pick<Position, Names['position'] | 'id'> | undefined {
  const followed = featureOf(useProvided(), 'positions') as Positions<Names>;
  return useFollowed(followed, NO_POSITIONS as PositionsState<Names>, options, ({ positions }) =>
    rowOf(positions ?? [], id, idOf),
  );
}

/** Follows the whole account in the same way: open positions, pending orders and the session's figures. */
export function useAccount<Names extends LiveNames = LiveNames>(
  options: FollowOptions = {},
): AccountState<Names> {
  const followed = featureOf(useProvided(), 'account');
  return useFollowed(followed as LiveAccount<Names>, NO_ACCOUNT, options, itself);
}

/**
 * The seconds since the gateway last confirmed the data; null before the first list. The component renders each second. The
 * hook does not subscribe.
 */
export function useAge(of: 'positions' | 'account' = 'positions'): number | null {
  const followed: Pick<Positions, 'age'> = featureOf(useProvided(), of);
  const seconds = () => {
    const ageMs = followed.age();
    return ageMs === null ? null : Math.floor(ageMs / 1_000);
  };
  return useSyncExternalStore(eachSecond, seconds, () => null);
}

/** Follows the open positions by a selector: the component renders when the selected value has changed. */
export function useLive<Selected>(
  selector: (state: PositionsState) => Selected,
  options: FollowOptions = {},
): Selected {
  const followed = featureOf(useProvided(), 'positions') as Positions;
  return useFollowed(followed, NO_POSITIONS, options, selector);
}

/** `nothing` is the state that a server renders, and the page's first state. */
function useFollowed<State, Selected>(
  followed: Followed<State>,
  nothing: State,
  { intervalMs }: FollowOptions,
  select: (state: State) => Selected,
): Selected {
  const subscribe = useCallback(
    (onChange: () => void) => followed(onChange, intervalMs === undefined ? {} : { intervalMs }),
    [followed, intervalMs],
  );
  const last = useRef<Selected | null>(null);
  // A selector may return a new, equal object each time, which must not render the component again.
  const selected = (state: State): Selected => {
    const present = select(state);
    if (isAlike(last.current, present)) return last.current as Selected;
    last.current = present;
    return present;
  };
  return useSyncExternalStore(
    subscribe,
    () => selected(followed.state()),
    () => selected(nothing),
  );
}

function itself<T>(state: T): T {
  return state;
}

/** Whether two values are the same, or objects with the same properties in the same order. */
function isAlike(a: unknown, b: unknown): boolean {
  const areObjects = Object(a) === a && Object(b) === b;
  if (!areObjects) return a === b;
  const [before, after] = [Object.entries(a as object).flat(), Object.entries(b as object).flat()];
  return before.length === after.length && after.every((each, index) => before[index] === each);
}

function eachSecond(onChange: () => void): () => void {
  const timer = setInterval(onChange, 1_000);
  return () => clearInterval(timer);
}
