import type { PositionsOptions } from '../live/positions.ts';
import { NO_POSITIONS, type PositionsState } from '../live/positions-state.ts';
import { useProvided } from './provider.ts';
import { useFollowed } from './use-followed.ts';

/**
 * Follows the open positions while the component is mounted. All components share one subscription; where they ask for
 * different times, the shortest counts.
 */
export function usePositions(options: PositionsOptions = {}): PositionsState {
  return useFollowed(useProvided().client.positions, NO_POSITIONS, options);
}
