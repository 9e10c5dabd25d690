import type { PendingOrder } from '../generated/rows.ts';
import type { LiveNames } from './chosen-fields.ts';
import type { AccountFigures } from './live-source.ts';
import { NO_POSITIONS, type PositionsState } from './positions-state.ts';

/** The account as far as it is known; the same object until something changes. */
export interface AccountState<Names extends LiveNames = LiveNames> extends PositionsState<Names> {
  /** The pending orders; null while the gateway has not said any. */
  readonly orders: readonly Pick<PendingOrder, Names['order'] | 'id'>[] | null;
  /** When the gateway gave the orders, which it tells more seldom than positions. */
  readonly ordersAsOf: Date | null;
  /** The gateway's figures as of its `fetchedAt`; null while the gateway has not said any. */
  readonly session: Pick<AccountFigures, Names['session']> | null;
}

export const NO_ACCOUNT: AccountState = Object.freeze({
  ...NO_POSITIONS,
  orders: null,
  ordersAsOf: null,
  session: null,
});
