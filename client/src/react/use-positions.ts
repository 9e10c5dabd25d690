import { useCallback, useSyncExternalStore } from 'react';
import type { PositionsOptions } from '../live/positions.ts';
import { NO_POSITIONS, type PositionsState } from '../live/positions-state.ts';
import { useProvided } from './provider.ts';

/**
 * Follows the open positions while the component is mounted. All components share one subscription; where they ask for
 * different times, the shortest counts.
 */
export function usePositions({ intervalMs }: PositionsOptions = {}): PositionsState {
  const { positions } = useProvided().client;
  const subscribe = useCallback(
    (onChange: () => void) => positions(onChange, intervalMs === undefined ? {} : { intervalMs }),
    [positions, intervalMs],
  );
  return useSyncExternalStore(subscribe, positions.state, serverSnapshot);
}

/** A server follows nothing, and the page begins with what the server has rendered. */
function serverSnapshot(): PositionsState {
  return NO_POSITIONS;
}
