import type { Clock, LogicalClock } from '../../../lib/clock.ts';
import type { AccountFreshness } from '../account/account-freshness.ts';
import type { Prover } from '../account/prover.ts';
import type { Sessions } from '../account/sessions.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { PollScheduler } from './poll-scheduler.ts';
import type { PositionsBoard } from './positions-board.ts';

/** A poll's outcome, which decides when the next one is due. A refusal concerns one token, a failure the gateway. */
export interface PollOutcome {
  readonly kind: 'changed' | 'unchanged' | 'failed' | 'refused';
  /** The cause of a failure. */
  readonly error?: unknown;
}

/** The services and settings that all feeds of a process, and their parts, are made with. */
export interface FeedOptions {
  readonly gateway: Pick<ViewerGateway, 'getOpenPositions'>;
  readonly sessions: Pick<Sessions, 'cached' | 'poll'>;
  readonly board: PositionsBoard;
  readonly freshness: Pick<AccountFreshness, 'catchUp' | 'changedAt'>;
  readonly ledger: Pick<ProofLedger, 'account'>;
  readonly prover: Pick<Prover, 'account'>;
  readonly scheduler: PollScheduler;
  readonly clock: Clock;
  readonly logicalClock: LogicalClock;
  readonly random: () => number;
  /** The interval of polls, and the pause after the first failure. */
  readonly pollMs: number;
  /** The longest pause. */
  readonly pollMaxMs: number;
  readonly sessionMaxAgeMs: number;
  /** How long a subscription waits for the first list or snapshot. */
  readonly gatewayTimeoutMs: number;
  readonly onPoll: (outcome: PollOutcome) => void;
}
