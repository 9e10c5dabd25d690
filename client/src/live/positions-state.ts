import type { TradingGraphError } from '../errors.ts';
import type { Position, PositionTotals } from './positions-operation.ts';

/** The open positions as far as they are known; the same object until something changes. */
export interface PositionsState {
  /** In the server's order; a position that has not changed is the same object as before. */
  readonly positions: readonly Position[];
  /** Null before the first list. */
  readonly totals: PositionTotals | null;
  /**
   * `LIVE`: the list follows the gateway. `DELAYED`: the gateway does not answer the server, and the list stands still.
   * `OFFLINE`: there is no line to the server, and the list is as it was at `asOf`.
   */
  readonly status: 'LIVE' | 'DELAYED' | 'OFFLINE';
  /** When the gateway last confirmed the list, as the server says; null before the first list. */
  readonly asOf: Date | null;
  /** Why there is no list, or why it does not go on; null while it does. */
  readonly error: TradingGraphError | null;
}

export const NO_POSITIONS: PositionsState = Object.freeze({
  positions: Object.freeze([]),
  totals: null,
  status: 'OFFLINE',
  asOf: null,
  error: null,
});
