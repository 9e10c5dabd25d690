import type { Clock } from '../../lib/clock.ts';
import type { AccountFreshness } from '../account/account-freshness.ts';
import type { NewestPositions } from '../account/newest-positions.ts';
import type { Sessions } from '../account/sessions.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { PollSchedule } from './poll-schedule.ts';

/** The services and settings from which every live list is made. */
export interface ListFeedOptions {
  readonly ledger: Pick<ProofLedger, 'account' | 'isProved' | 'accountHasLapsed' | 'onRefused'>;
  readonly schedule: PollSchedule;
  readonly clock: Clock;
  readonly random: () => number;
  /** The interval of polls, and the pause after the first failure. Later pauses grow from it. */
  readonly pollMs: number;
  /** How long a subscription waits for its first list. */
  readonly firstListMs: number;
}

/** The same for the lists of positions. */
export interface FeedOptions extends ListFeedOptions {
  readonly gateway: Pick<ViewerGateway, 'getOpenPositions'>;
  readonly sessions: Pick<Sessions, 'cached' | 'poll'>;
  readonly newestPositions: NewestPositions;
  readonly freshness: Pick<AccountFreshness, 'catchUp' | 'changedAt'>;
  readonly sessionMaxAgeMs: number;
}
