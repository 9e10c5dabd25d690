import { type AccountState, NO_ACCOUNT } from '../live/account-state.ts';
import type { FollowOptions } from '../live/followed.ts';
import { useProvided } from './provider.ts';
import { useFollowed } from './use-followed.ts';

/**
 * Follows the whole account while the component is mounted: open positions, pending orders and the session's figures. All
 * components share one subscription; where they ask for different times, the shortest counts.
 */
export function useAccount(options: FollowOptions = {}): AccountState {
  return useFollowed(useProvided().client.account, NO_ACCOUNT, options);
}
