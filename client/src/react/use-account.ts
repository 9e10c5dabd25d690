import { type AccountState, NO_ACCOUNT } from '../live/account-state.ts';
import type { LiveNames } from '../live/chosen-fields.ts';
import type { FollowOptions } from '../live/followed.ts';
import { useClient } from './provider.ts';
import { useFollowed } from './use-followed.ts';

/**
 * Follows the whole account while the component is mounted: open positions, pending orders and the session's figures. All
 * components share one subscription; where they ask for different times, the shortest counts. Where the client follows few fields,
 * their names are the type's argument.
 */
export function useAccount<Names extends LiveNames = LiveNames>(
  options: FollowOptions = {},
): AccountState<Names> {
  return useFollowed(useClient<never, Names>().account, NO_ACCOUNT, options);
}
