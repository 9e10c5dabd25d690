import type { Clock, LogicalClock } from '../../../lib/clock.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { AccountFreshness } from '../account/account-freshness.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { PollScheduler } from './poll-scheduler.ts';
import type { PositionsBoard } from './positions-board.ts';

/** Ops 12 and 10, called once: an implementation must not retry, because a feed has its own back-off. */
export interface FeedSource {
  getOpenPositions(viewer: Viewer, previous: PositionsAnswer | null): Promise<PositionsAnswer>;
  /** The snapshot that is cached for this token, where it may still be served. */
  cachedSession(viewer: Viewer): SessionAnswer | null;
  /** A snapshot that was requested after this logical time. */
  getSession(viewer: Viewer, after: number): Promise<SessionAnswer>;
}

/** The feed's view of the proof of its tokens. */
export interface TokenProofs {
  /** Whether the token has proof of the account now. */
  holds(viewer: Viewer): boolean;
  /** Renews the proof of a token whose polls did not renew it; rejects where that fails. */
  renew(viewer: Viewer): Promise<unknown>;
}

/** The services and settings that all feeds of a process, and their parts, are made with. */
export interface FeedOptions {
  readonly source: FeedSource;
  readonly board: PositionsBoard;
  readonly freshness: Pick<AccountFreshness, 'changedAt'>;
  readonly proofs: TokenProofs;
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
  /** Called with the outcome of each poll. */
  readonly onPoll: (
    outcome: 'changed' | 'unchanged' | 'failed' | 'refused',
    error?: unknown,
  ) => void;
}
