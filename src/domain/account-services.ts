import { GatewayError } from '../gateway/errors.ts';
import type { Account } from '../lib/account.ts';
import { steadyClock, systemClock } from '../lib/clock.ts';
import { createRepeatedErrors } from '../lib/repeated-errors.ts';
import type { AccountEvents } from './account/account-events.ts';
import { AccountFreshness } from './account/account-freshness.ts';
import { JoinedReads } from './account/joined-reads.ts';
import { PositionsBoard } from './account/positions-board.ts';
import { Prover } from './account/prover.ts';
import { Sessions } from './account/sessions.ts';
import type { ProofLedger } from './auth/proof.ts';
import type { ViewerGateway } from './auth/viewer-gateway.ts';
import type { DomainParts } from './domain-parts.ts';
import type { PollOutcome } from './feed/feed-options.ts';
import { Feeds } from './feed/feeds.ts';
import { OpenPositions } from './feed/open-positions.ts';
import { PollSchedule } from './feed/poll-schedule.ts';

/** Creates the services that read accounts and cache the answers. */
export function createAccountServices(
  { logicalClock, stores, log, settings, heartbeatMs, cacheBytes }: DomainParts,
  accounts: AccountEvents,
  gateway: ViewerGateway,
  ledger: ProofLedger,
) {
  const clock = systemClock;
  const repeated = createRepeatedErrors(steadyClock.now);
  const sessionMaxAgeMs = settings.sessionMaxAgeSeconds * 1000;
  const versions = stores.replicas?.accountVersions ?? null;
  const freshness = new AccountFreshness(accounts, logicalClock, versions);
  const joinedReads = new JoinedReads(logicalClock, accounts);
  const board = new PositionsBoard(ledger, cacheBytes.positions);
  const sessions = new Sessions({
    joinedReads,
    freshness,
    board,
    gateway,
    ledger,
    clock,
    logicalClock,
    maxAgeMs: sessionMaxAgeMs,
    maxBytes: cacheBytes.sessions,
  });
  const prover = new Prover({ ledger, sessions, gateway, joinedReads });
  const { gatewayPollsPerSecond: pollsPerSecond } = settings;
  const schedule = new PollSchedule({
    clock,
    pollsPerSecond,
    random: Math.random,
  });
  const feeds = new Feeds({
    gateway,
    sessions,
    board,
    freshness,
    ledger,
    prover,
    schedule,
    clock,
    random: Math.random,
    pollMs: settings.positionsPollMs,
    sessionMaxAgeMs,
    firstListMs: settings.gatewayTimeoutMs,
    heartbeatMs,
    onPoll({ kind, error }: PollOutcome) {
      // The breaker logs why the gateway fails.
      if (kind !== 'failed' || error instanceof GatewayError) return;
      const told = repeated('poll', error instanceof Error ? error.message : '');
      if (told !== null) log.error({ err: error, ...told }, 'a poll failed unexpectedly');
    },
  });
  accounts.on('changed', (account) => feeds.accountChanged(account));
  return {
    sessions,
    prover,
    feeds,
    /** Called when the gateway is back: feeds that back off are polled soon. */
    resumePolls: () => schedule.resume(),
    joinedReads,
    openPositions: new OpenPositions({ gateway, board, clock, feeds, freshness, joinedReads }),
    /** Resolves when reads of the account can no longer be older than its last order at any replica. */
    async catchUp(account: Account) {
      if (!(await freshness.catchUp(account))) accounts.emit('changed', account);
    },
    caches: {
      session: () => sessions.byteSize,
      positions: () => board.byteSize,
      account_version: () => freshness.byteSize,
    },
  };
}
