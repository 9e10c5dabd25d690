import type { Core } from '../core.ts';
import { accountDocument } from './account-operation.ts';
import { type AccountState, NO_ACCOUNT } from './account-state.ts';
import type { LiveFields, LiveNames } from './chosen-fields.ts';
import { type FoldedAccount, foldAccount } from './fold-account.ts';
import { createFollowed, type Followed } from './followed.ts';

/** Follows the whole account: open positions, pending orders and the session's figures. */
export type LiveAccount<Names extends LiveNames = LiveNames> = Followed<AccountState<Names>>;

export function createAccount<Names extends LiveNames = LiveNames>(
  core: Core,
  fields: LiveFields<Names> = {},
): LiveAccount<Names> {
  return createFollowed(core, {
    operation: accountDocument(fields),
    eventOf: ({ accountChanges }) => accountChanges,
    fold: foldAccount,
    nothing: NO_ACCOUNT,
    shown: ({ positions, totals, asOf, orders, session }: FoldedAccount) => ({
      positions,
      totals,
      asOf,
      orders: orders?.list ?? null,
      ordersAsOf: orders?.fetchedAt ?? null,
      session,
    }),
  });
}
