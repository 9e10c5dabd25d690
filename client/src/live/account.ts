import type { Core } from '../core.ts';
import { accountDocuments } from './account-operation.ts';
import type { LiveFields, LiveNames } from './chosen-fields.ts';
import { foldAccount, polledAccount } from './fold-account.ts';
import { createFollowed, type Followed } from './followed.ts';
import { type AccountState, NO_ACCOUNT } from './states.ts';

/** Follows the whole account: open positions, pending orders and the session's figures. */
export type LiveAccount<Names extends LiveNames = LiveNames> = Followed<AccountState<Names>>;

export function createAccount<Names extends LiveNames = LiveNames>(
  core: Core,
  fields: LiveFields<Names> = {},
): LiveAccount<Names> {
  const { subscription, query } = accountDocuments(fields);
  return createFollowed(core, {
    operation: subscription,
    query,
    eventOf: ({ accountChanges }) => accountChanges,
    fold: foldAccount,
    polled: polledAccount,
    nothing: NO_ACCOUNT,
    shown: ({ rows, totals, orders, session }) => ({
      positions: rows,
      totals,
      orders: orders?.list ?? null,
      ordersAsOf: orders?.fetchedAt ?? null,
      session,
    }),
  });
}
