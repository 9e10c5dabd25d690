import type { Account } from '../../../lib/account.ts';
import { steadyClock, systemClock } from '../../../lib/clock.ts';
import type { PollOutcome } from '../../../lib/live/live-options.ts';
import { createPollScheduler } from '../../../lib/live/poll-scheduler.ts';
import { createRepeatedErrors } from '../../../lib/repeated-errors.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { DomainParts } from '../domain-parts.ts';
import { createPositionsHub } from '../positions/hub.ts';
import { createOpenPositions } from '../positions/open-positions.ts';
import { createPositionsBoard } from '../positions/positions-board.ts';
import type { AccountEvents } from './account-events.ts';
import { createAccountFreshness } from './account-freshness.ts';
import { JoinedReads } from './joined-reads.ts';
import { liveTokens, retryAfterSeconds } from './live-tokens.ts';
import { createProver } from './prover.ts';
import { createSessions } from './sessions.ts';
import { createSettlePair } from './settle-pair.ts';

/** The name of the list for operators. */
const POSITIONS = 'positions';

/** Creates all that reads accounts and remembers what it read: each listens to the accounts from when it is made. */
export function createAccountServices(
  { logicalClock, stores, metrics, log, settings, turns, heartbeatMs, cacheBytes }: DomainParts,
  accounts: AccountEvents,
  gateway: ViewerGateway,
  ledger: ProofLedger,
) {
  const clock = systemClock;
  const repeated = createRepeatedErrors(steadyClock.now);
  const freshness = createAccountFreshness(
    accounts,
    logicalClock,
    stores.replicas?.accountVersions ?? null,
  );
  const joinedReads = new JoinedReads(logicalClock, accounts);
  const board = createPositionsBoard(ledger, cacheBytes.positions);
  const sessions = createSessions({
    freshness,
    board,
    gateway,
    ledger,
    clock,
    logicalClock,
    maxAgeMs: settings.sessionMaxAgeSeconds * 1000,
    maxBytes: cacheBytes.sessions,
    onRead: (source) => metrics.sessionReads.add(source),
  });
  const prover = createProver({ ledger, sessions, logicalClock });
  const tokens = liveTokens(ledger, prover);
  const { gatewayPollsPerSecond: pollsPerSecond } = settings;
  const scheduler = createPollScheduler(clock, pollsPerSecond, Math.random, (factor) =>
    log.warn(
      { pollsPerSecond, factor: Math.round(factor * 100) / 100 },
      'live lists are polled less often than POSITIONS_POLL_MS asks for: GATEWAY_POLLS_PER_SECOND is reached',
    ),
  );
  const hub = createPositionsHub({
    tokens,
    retryAfterSeconds,
    noList: () =>
      new GatewayError('timeout', 'getOpenPositions', 'no first list within the deadline'),
    clock,
    uptimeMs: steadyClock.now,
    random: Math.random,
    pollMaxMs: settings.positionsPollMaxMs,
    logicalClock,
    turns,
    heartbeatMs,
    onEvent(merged: number) {
      metrics.events.delivered.add();
      metrics.events.merged.add(merged);
    },
    onPoll({ kind, error }: PollOutcome) {
      metrics.polls.add(POSITIONS, kind);
      // A breaker's line says why the gateway fails.
      if (kind !== 'failed' || error instanceof GatewayError) return;
      const told = repeated(POSITIONS, error instanceof Error ? error.message : '');
      if (told !== null) log.error({ err: error, ...told }, 'a poll failed unexpectedly');
    },
    scheduler,
    gateway,
    sessions,
    board,
    freshness,
    ledger,
    pollMs: settings.positionsPollMs,
    sessionMaxAgeMs: settings.sessionMaxAgeSeconds * 1000,
    sessionPollMs: settings.sessionPollMs,
    firstListMs: settings.gatewayTimeoutMs,
  });
  accounts.on('changed', (account) => hub.accountChanged(account));
  accounts.on('snapshotAnswered', (viewer, answer) => hub.snapshotAnswered(viewer, answer));
  // A gateway that is back after 429s or garbage had no breaker open that closes.
  accounts.on('positionsAnswered', () => scheduler.answered(settings.positionsPollMs));
  const openPositions = createOpenPositions({
    gateway,
    board,
    clock,
    hub,
    freshness,
    joinedReads,
  });
  const settlePair = createSettlePair(sessions, openPositions, board, clock, logicalClock);
  return {
    sessions,
    prover,
    hub,
    /** The gateway is back: feeds that back off are polled soon. */
    resumePolls: scheduler.resume,
    openPositions,
    joinedReads,
    settlePair,
    /** Resolves when reads of the account can no longer be older than its last order at any replica. */
    async catchUp(account: Account) {
      if (!(await freshness.catchUp(account))) accounts.emit('changed', account);
    },
    /** How many an account has. Callers must have proof of the account. */
    holdings: {
      positions: (account: Account) => hub.sizeFor(account) ?? board.sizeFor(account),
      orders: (account: Account) => sessions.orderCount(account),
    },
    caches: {
      session: () => sessions.byteSize,
      positions: () => board.byteSize,
      account_version: () => freshness.byteSize,
    },
  };
}
