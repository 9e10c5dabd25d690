import type { Clock, LogicalClock } from '../clock.ts';
import type { FairScheduler } from '../fair-scheduler.ts';
import type { PollScheduler } from './poll-scheduler.ts';

export type LiveStatus = 'LIVE' | 'DELAYED';

/** The reader of a live list, as far as its token is concerned. */
export interface LiveViewer {
  readonly tokenHash: string;
  readonly expiresAtMs: number | null;
}

/** The arguments of a client's subscription to a list. */
export interface WatchOptions {
  readonly intervalMs?: number | null | undefined;
  readonly heartbeatSeconds?: number | null | undefined;
  /** The cursor to resume from, where changes are followed. */
  readonly after?: string | null | undefined;
  /** Whether rows of which only moving fields have changed come apart. */
  readonly ticks?: boolean;
}

/** A poll's outcome, which decides when the next one is due. A refusal concerns one token, a failure the backend. */
export interface PollOutcome {
  readonly kind: 'changed' | 'unchanged' | 'failed' | 'refused';
  readonly error?: unknown;
}

/** The judgement of tokens: lists that are everybody's leave it out. */
export interface TokenRules<Viewer> {
  /** How long past its expiry a token is accepted, for clocks that differ. */
  readonly leewayMs: number;
  /** Whether the answer to a poll proves its token; else only tokens with proof poll, as long as there is one. */
  readonly isProvedByPolls: boolean;
  /** Whether the token may be shown what another one's poll has brought. */
  isProved(viewer: Viewer): boolean;
  /** Proves the token by a call; rejects where that fails. */
  prove(viewer: Viewer): Promise<unknown>;
  /** The error that ends the token's subscriptions; null where a failure is not about the token. */
  endBehind(error: unknown): Error | null;
  /** The error that ends the subscriptions of a token whose time is over. */
  expired(): Error;
}

/** The settings that the live lists of one kind, and their parts, are made with. */
export interface LiveOptions<Viewer> {
  readonly tokens?: TokenRules<Viewer>;
  readonly scheduler: PollScheduler;
  readonly clock: Clock;
  /** A steady clock, by which the process measures its own work. */
  readonly uptimeMs: () => number;
  readonly logicalClock: LogicalClock;
  readonly random: () => number;
  /** The interval of polls, and the pause after the first failure. */
  readonly pollMs: number;
  readonly pollMaxMs: number;
  /** Has what is long run in turns. */
  readonly turns?: FairScheduler | undefined;
  /** The pause that a failed backend asks for. */
  readonly retryAfterSeconds?: (error: unknown) => number | null;
  /** How long a subscription waits for the first list, and its failure then. */
  readonly firstListMs: number;
  readonly noList?: () => Error;
  /** The longest silence of subscriptions that request none. */
  readonly heartbeatMs?: number | undefined;
  readonly onPoll?: (outcome: PollOutcome) => void;
  /** Called with each event, and with the number of changes that are merged into it. */
  readonly onEvent?: (merged: number) => void;
}
