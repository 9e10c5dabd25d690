import type { LiveNames } from '../live/chosen-fields.ts';
import type { PositionsOptions } from '../live/positions.ts';
import { NO_POSITIONS, type PositionsState } from '../live/positions-state.ts';
import { useClient } from './provider.ts';
import { useFollowed } from './use-followed.ts';

/**
 * Follows the open positions while the component is mounted. All components share one subscription; where they ask for
 * different times, the shortest counts. Where the client follows few fields, their names are the type's argument.
 */
export function usePositions<Names extends LiveNames = LiveNames>(
  options: PositionsOptions = {},
): PositionsState<Names> {
  return useFollowed(useClient<never, Names>().positions, NO_POSITIONS, options);
}
