import type { PendingOrder, Position } from '../generated/rows.ts';
import type { AccountFigures } from './account-operation.ts';
import type { LiveState } from './live-source.ts';
import type { PositionTotals } from './positions-operation.ts';

/** The account as far as it is known; the same object until something changes. */
export interface AccountState extends LiveState {
  /** In the server's order; a position that has not changed is the same object as before. */
  readonly positions: readonly Position[];
  /** Null before the first list. */
  readonly totals: PositionTotals | null;
  /** The pending orders; null while the gateway has not said any. */
  readonly orders: readonly PendingOrder[] | null;
  /** When the gateway gave the orders, which it tells more seldom than positions. */
  readonly ordersAsOf: Date | null;
  /** The gateway's figures as of its `fetchedAt`; null while the gateway has not said any. */
  readonly session: AccountFigures | null;
}

export const NO_ACCOUNT: AccountState = Object.freeze({
  positions: Object.freeze([]),
  totals: null,
  orders: null,
  ordersAsOf: null,
  session: null,
  status: 'OFFLINE',
  asOf: null,
  error: null,
});
