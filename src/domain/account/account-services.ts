import { steadyClock, systemClock } from '../../../lib/clock.ts';
import { createPollScheduler } from '../../../lib/live/poll-scheduler.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { DomainParts } from '../domain-parts.ts';
import { createPositionsHub } from '../positions/hub.ts';
import { createSettlePair } from '../positions/list-pairs.ts';
import { createOpenPositions } from '../positions/open-positions.ts';
import { PositionsBoard } from '../positions/positions-board.ts';
import type { AccountEvents } from './account-events.ts';
import { createAccountFreshness } from './account-freshness.ts';
import { createListAgreement } from './list-agreement.ts';
import { liveTokens, retryAfterSeconds } from './live-tokens.ts';
import { createProver } from './prover.ts';
import { Sessions } from './sessions.ts';

/** Creates all that reads accounts and remembers what it read: each listens to the accounts from when it is made. */
export function createAccountServices(
  { logicalClock, stores, metrics, log, settings, heartbeatMs, cacheBytes }: DomainParts,
  accounts: AccountEvents,
  gateway: ViewerGateway,
  ledger: ProofLedger,
) {
  const clock = systemClock;
  const lists = createListAgreement(steadyClock);
  accounts.on('positionsAnswered', (viewer, answer) => lists.positionsAnswered(viewer, answer));
  accounts.on('snapshotAnswered', (viewer, answer) => lists.snapshotAnswered(viewer, answer));
  const freshness = createAccountFreshness(accounts, logicalClock, stores.accountVersions);
  const board = new PositionsBoard(ledger, cacheBytes.positions);
  const sessions = new Sessions({
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
  const scheduler = createPollScheduler(clock, settings.gatewayPollsPerSecond, Math.random);
  const hub = createPositionsHub({
    scheduler,
    gateway,
    sessions,
    board,
    freshness,
    ledger,
    tokens: liveTokens(ledger, prover),
    retryAfterSeconds,
    clock,
    random: Math.random,
    pollMs: settings.positionsPollMs,
    pollMaxMs: settings.positionsPollMaxMs,
    logicalClock,
    sessionMaxAgeMs: settings.sessionMaxAgeSeconds * 1000,
    heartbeatMs,
    firstListMs: settings.gatewayTimeoutMs,
    onEvent(merged) {
      metrics.events.delivered.add();
      metrics.events.merged.add(merged);
    },
    onPoll({ kind, error }) {
      metrics.polls.add(kind);
      if (kind !== 'failed' || error instanceof GatewayError) return;
      log.error({ err: error }, 'a poll failed with an unexpected error');
    },
  });
  accounts.on('changed', (account) => hub.accountChanged(account));
  accounts.on('snapshotAnswered', (viewer, answer) => hub.snapshotAnswered(viewer, answer));
  const openPositions = createOpenPositions({ gateway, board, clock, hub, freshness });
  const settlePair = createSettlePair(sessions, openPositions, clock, logicalClock);
  return {
    lists,
    sessions,
    prover,
    hub,
    scheduler,
    openPositions,
    settlePair,
    /** Resolves when reads of the account can no longer be older than its last order at any replica. */
    async catchUp(account: string) {
      if (!(await freshness.catchUp(account))) accounts.emit('changed', account);
    },
    /** How many an account has. Callers must have proof of the account. */
    holdings: {
      positions: (account: string) => hub.sizeFor(account) ?? board.sizeFor(account),
      orders: (account: string) => sessions.orderCount(account),
    },
    caches: {
      session: () => sessions.byteSize,
      positions: () => board.byteSize,
      account_version: () => freshness.byteSize,
    },
  };
}
