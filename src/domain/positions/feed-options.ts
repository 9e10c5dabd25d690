import type { LiveOptions } from '../../../lib/live/live-options.ts';
import type { AccountFreshness } from '../account/account-freshness.ts';
import type { Sessions } from '../account/sessions.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { PositionsBoard } from './positions-board.ts';

/** The services and settings that all feeds of a process, and their parts, are made with. */
export interface FeedOptions extends LiveOptions<Viewer> {
  readonly gateway: Pick<ViewerGateway, 'getOpenPositions'>;
  readonly sessions: Pick<Sessions, 'cached' | 'poll'>;
  readonly board: PositionsBoard;
  readonly freshness: Pick<AccountFreshness, 'catchUp' | 'changedAt'>;
  readonly ledger: Pick<ProofLedger, 'account'>;
  readonly sessionMaxAgeMs: number;
  /** How often op 10 is read while somebody follows the session. */
  readonly sessionPollMs: number;
}
