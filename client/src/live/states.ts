import type { PendingOrder, Position } from '../generated/rows.ts';
import type { LiveNames } from './chosen-fields.ts';
import type { AccountFigures, LiveState, PositionTotals } from './live-source.ts';

/** The open positions, as far as they are known; the same object until something changes. */
export interface PositionsState<Names extends LiveNames = LiveNames> extends LiveState {
  /** The positions in the server's order, null before the first list; an unchanged position is the same object as before. */
  readonly positions: readonly Pick<Position, Names['position'] | 'id'>[] | null;
  /** Null before the first list. */
  readonly totals: PositionTotals | null;
}

export const NO_POSITIONS: PositionsState = Object.freeze({
  positions: null,
  totals: null,
  status: 'CONNECTING',
  asOf: null,
  error: null,
});

/** The account, as far as it is known; the same object until something changes. */
export interface AccountState<Names extends LiveNames = LiveNames> extends PositionsState<Names> {
  /** The pending orders; null until the gateway has given them. */
  readonly orders: readonly Pick<PendingOrder, Names['order'] | 'id'>[] | null;
  /** When the gateway gave the orders, which are read less often than positions. */
  readonly ordersAsOf: Date | null;
  /** The gateway's figures as of its `fetchedAt`; null until the gateway has given them. */
  readonly session: Pick<AccountFigures, Names['session']> | null;
}

export const NO_ACCOUNT: AccountState = /* @__PURE__ */ Object.freeze({
  ...NO_POSITIONS,
  orders: null,
  ordersAsOf: null,
  session: null,
});
