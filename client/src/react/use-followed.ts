import { useCallback, useSyncExternalStore } from 'react';
import type { Followed, FollowOptions } from '../live/followed.ts';

/** The `nothing` is what a server renders, which follows nothing, and what the page begins with. */
export function useFollowed<State>(
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
