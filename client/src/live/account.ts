import type { Core } from '../core.ts';
import {
  ACCOUNT_CHANGES,
  type AccountChanges,
  type AccountChangesData,
} from './account-operation.ts';
import { type AccountState, NO_ACCOUNT } from './account-state.ts';
import { type FoldedAccount, foldAccount } from './fold-account.ts';
import { createFollowed, type Followed } from './followed.ts';
import type { LiveSource } from './live-source.ts';

/** Follows the whole account: open positions, pending orders and the session's figures. */
export type LiveAccount = Followed<AccountState>;

const SOURCE: LiveSource<AccountChangesData, AccountChanges, FoldedAccount, AccountState> = {
  operation: ACCOUNT_CHANGES,
  eventOf: ({ accountChanges }) => accountChanges,
  fold: foldAccount,
  nothing: NO_ACCOUNT,
  shown: ({ live, orders, session }) => ({
    positions: live.positions,
    totals: live.totals,
    asOf: live.asOf,
    orders: orders?.list ?? null,
    ordersAsOf: orders?.fetchedAt ?? null,
    session,
  }),
};

export function createAccount(core: Core): LiveAccount {
  return createFollowed(core, SOURCE);
}
