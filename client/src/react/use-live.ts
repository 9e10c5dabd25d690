import { useCallback, useSyncExternalStore } from 'react';
import type { LiveAccount } from '../live/account.ts';
import type { LiveNames } from '../live/chosen-fields.ts';
import type { Followed, FollowOptions } from '../live/followed.ts';
import type { Positions } from '../live/positions.ts';
import {
  type AccountState,
  NO_ACCOUNT,
  NO_POSITIONS,
  type PositionsState,
} from '../live/states.ts';
import { featureOf } from './any-client.ts';
import { useProvided } from './provider.ts';

/**
 * Follows the open positions while the component is mounted. All components share one subscription; where they ask for
 * different times, the shortest counts. Where the client follows few fields, their names are the type's argument.
 */
export function usePositions<Names extends LiveNames = LiveNames>(
  options: FollowOptions = {},
): PositionsState<Names> {
  const followed = featureOf(useProvided().client, 'positions');
  return useFollowed(followed as Positions<Names>, NO_POSITIONS, options);
}

/** Follows the whole account in the same way: open positions, pending orders and the session's figures. */
export function useAccount<Names extends LiveNames = LiveNames>(
  options: FollowOptions = {},
): AccountState<Names> {
  const followed = featureOf(useProvided().client, 'account');
  return useFollowed(followed as LiveAccount<Names>, NO_ACCOUNT, options);
}

/** The `nothing` is what a server renders, which follows nothing, and what the page begins with. */
function useFollowed<State>(
  followed: Followed<State>,
  nothing: State,
  { intervalMs }: FollowOptions,
): State {
  const subscribe = useCallback(
    (onChange: () => void) => followed(onChange, intervalMs === undefined ? {} : { intervalMs }),
    [followed, intervalMs],
  );
  return useSyncExternalStore(subscribe, followed.state, () => nothing);
}
