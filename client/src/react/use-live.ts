import { useCallback, useSyncExternalStore } from 'react';
import type { LiveAccount } from '../live/account.ts';
import type { LiveNames } from '../live/chosen-fields.ts';
import type { Followed, FollowOptions } from '../live/followed.ts';
import type { ListFields, ListOptions } from '../live/list-operation.ts';
import { type ListState, NO_ROWS, type OwnListOptions, type RowOf } from '../live/lists.ts';
import type { Positions } from '../live/positions.ts';
import {
  type AccountState,
  NO_ACCOUNT,
  NO_POSITIONS,
  type PositionsState,
} from '../live/states.ts';
import type { Operation } from '../operation.ts';
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

/** The options of `useLive`: those of the client's `live`, and at most one change in how long. */
type Followable<Options> = Options & FollowOptions;

/** Follows another live list in the same way, by the name of its field or by an operation, as the client's `live` does. */
export function useLive<Row extends object>(
  field: string,
  options: Followable<ListFields<Row> & ListOptions<Row>>,
): ListState<Row>;
export function useLive<Data>(
  operation: Operation<Data, never>,
  options?: Followable<OwnListOptions<RowOf<Data>>>,
): ListState<RowOf<Data>>;
export function useLive(
  list: Operation<unknown, never>,
  options: Followable<OwnListOptions<never>> = {},
): ListState<never> {
  const live = featureOf(useProvided().client, 'live');
  return useFollowed(live(list, options), NO_ROWS, options);
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
