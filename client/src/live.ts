import type { Feature } from './core-client.ts';
import { createAccount, type LiveAccount } from './live/account.ts';
import type { LiveFields, LiveNames } from './live/chosen-fields.ts';
import { createPositions, type Positions } from './live/positions.ts';

export { accountDocuments } from './live/account-operation.ts';
export { type PositionChanges, positionsDocuments } from './live/positions-operation.ts';
export type { LiveFields, LiveNames };

/** The part of a client that `live()` adds. */
export interface LiveFeature<Names extends LiveNames = LiveNames> {
  /** The open positions, followed live. */
  readonly positions: Positions<Names>;
  /** The whole account, followed live: open positions, pending orders and the session's figures. */
  readonly account: LiveAccount<Names>;
}

/** The feature that follows positions and the account live. */
export function live<
  OfPosition extends LiveNames['position'] = LiveNames['position'],
  OfOrder extends LiveNames['order'] = LiveNames['order'],
  OfSession extends LiveNames['session'] = LiveNames['session'],
>(
  options: LiveFields<{ position: OfPosition; order: OfOrder; session: OfSession }> = {},
): Feature<LiveFeature<{ position: OfPosition; order: OfOrder; session: OfSession }>> {
  return (core) => ({
    positions: createPositions(core, options),
    account: createAccount(core, options),
  });
}
