import type { Core } from '../core.ts';
import { accountDocument } from './account-operation.ts';
import type { LiveFields, LiveNames } from './chosen-fields.ts';
import { type FoldedAccount, foldAccount } from './fold-account.ts';
import { createFollowed, type Followed } from './followed.ts';
import { olderForm } from './list-operation.ts';
import type { OfflineAccount } from './live-source.ts';
import { type AccountState, NO_ACCOUNT } from './states.ts';

/** Follows the whole account: open positions, pending orders and the session's figures. */
export type LiveAccount<Names extends LiveNames = LiveNames> = Followed<AccountState<Names>>;

export function createAccount<Names extends LiveNames = LiveNames>(
  core: Core,
  fields: LiveFields<Names> & { readonly offlineAccount?: OfflineAccount | undefined } = {},
): LiveAccount<Names> {
  const operation = accountDocument(fields);
  return createFollowed(core, {
    operation,
    older: olderForm(operation),
    kept: fields.offlineAccount?.(core, operation),
    eventOf: ({ accountChanges }) => accountChanges,
    fold: foldAccount,
    nothing: NO_ACCOUNT,
    shown: ({ rows, totals, orders, session }: FoldedAccount) => ({
      positions: rows,
      totals,
      orders: orders?.list ?? null,
      ordersAsOf: orders?.fetchedAt ?? null,
      session,
      isStale: false,
    }),
  });
}
