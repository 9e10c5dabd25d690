import type { Feature } from './core-client.ts';
import { createAccount, type LiveAccount } from './live/account.ts';
import type { LiveFields, LiveNames } from './live/chosen-fields.ts';
import { createLists, type Lists } from './live/lists.ts';
import type { OfflineAccount } from './live/live-source.ts';
import { createPositions, type Positions } from './live/positions.ts';

export { accountDocument } from './live/account-operation.ts';
export { type FoldedList, foldList } from './live/fold-list.ts';
export { listDocument } from './live/list-operation.ts';
export type { ListState, Lists } from './live/lists.ts';
export { type PositionChanges, positionsDocument } from './live/positions-operation.ts';
export type { LiveFields, LiveNames };

/** The options of `live()`. */
export interface LiveOptions<Names extends LiveNames = LiveNames> extends LiveFields<Names> {
  /** Keeps the account's last state, so that an app which starts offline shows it as of its `asOf`; without it nothing is kept. */
  readonly offlineAccount?: OfflineAccount | undefined;
}

/** The part of a client that `live()` adds. */
export interface LiveFeature<Names extends LiveNames = LiveNames> {
  /** The open positions, followed live. */
  readonly positions: Positions<Names>;
  /** Any other live list of the server. */
  readonly live: Lists;
  /** The whole account, followed live: open positions, pending orders and the session's figures. */
  readonly account: LiveAccount<Names>;
}

/** The feature that follows positions and the account live. */
export function live<
  OfPosition extends LiveNames['position'] = LiveNames['position'],
  OfOrder extends LiveNames['order'] = LiveNames['order'],
  OfSession extends LiveNames['session'] = LiveNames['session'],
>(
  options: LiveOptions<{ position: OfPosition; order: OfOrder; session: OfSession }> = {},
): Feature<LiveFeature<{ position: OfPosition; order: OfOrder; session: OfSession }>> {
  return (core) => ({
    positions: createPositions(core, options),
    account: createAccount(core, options),
    live: createLists(core),
  });
}
