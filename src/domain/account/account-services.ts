import { type Clock, steadyClock } from '../../../lib/clock.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { DomainParts } from '../domain-parts.ts';
import { PositionsHub } from '../positions/hub.ts';
import { ListPairs } from '../positions/list-pairs.ts';
import { OpenPositions } from '../positions/open-positions.ts';
import { PositionsBoard } from '../positions/positions-board.ts';
import type { AccountEvents } from './account-events.ts';
import { AccountFreshness } from './account-freshness.ts';
import { ListAgreement } from './list-agreement.ts';
import { Prover } from './prover.ts';
import { Sessions } from './sessions.ts';

export interface AccountServicesParts
  extends Pick<
    DomainParts,
    'logicalClock' | 'stores' | 'metrics' | 'log' | 'settings' | 'heartbeatMs' | 'cacheBytes'
  > {
  readonly accounts: AccountEvents;
  readonly gateway: ViewerGateway;
  readonly ledger: ProofLedger;
  readonly clock: Clock;
}

/** Creates all that reads accounts and remembers what it read: each listens to the accounts from when it is made. */
export function createAccountServices({
  accounts,
  gateway,
  ledger,
  clock,
  logicalClock,
  stores,
  metrics,
  log,
  settings,
  heartbeatMs,
  cacheBytes,
}: AccountServicesParts) {
  const lists = new ListAgreement(steadyClock);
  accounts.on('positionsAnswered', (viewer, answer) => lists.positionsAnswered(viewer, answer));
  accounts.on('snapshotAnswered', (viewer, answer) => lists.snapshotAnswered(viewer, answer));
  const freshness = new AccountFreshness({
    versions: stores.accountVersions,
    onChanged: (account) => accounts.emit('changed', account),
    onAnyChanged: () => accounts.emit('anyChanged'),
  });
  const board = new PositionsBoard({ logicalClock, maxBytes: cacheBytes.positions });
  accounts.on('changed', (account) => board.accountChanged(account));
  accounts.on('anyChanged', () => board.anyAccountChanged());
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
  accounts.on('changed', (account) => sessions.accountChanged(account));
  accounts.on('anyChanged', () => sessions.anyAccountChanged());
  const prover = new Prover({ ledger, sessions, logicalClock });
  const hub = new PositionsHub({
    source: {
      getOpenPositions(viewer, previous) {
        // Not awaited: where another replica's order has changed the account, the feed reads it once more.
        void freshness.catchUp(viewer.account);
        return gateway.getOpenPositions(viewer.polling(), previous);
      },
      cachedSession: (viewer) => sessions.cached(viewer),
      getSession: (viewer, after) => sessions.poll(viewer, after),
    },
    board,
    clock,
    random: Math.random,
    proofs: {
      holds: (viewer) => ledger.account(viewer) !== null,
      renew: (viewer) => prover.account(viewer),
    },
    pollMs: settings.positionsPollMs,
    pollMaxMs: settings.positionsPollMaxMs,
    logicalClock,
    sessionMaxAgeMs: settings.sessionMaxAgeSeconds * 1000,
    heartbeatMs,
    pollsPerSecond: settings.gatewayPollsPerSecond,
    gatewayTimeoutMs: settings.gatewayTimeoutMs,
    onEvent(merged) {
      metrics.events.delivered.add();
      metrics.events.merged.add(merged);
    },
    onUnexpected: (error) => log.error({ err: error }, 'a poll failed with an unexpected error'),
  });
  accounts.on('changed', (account) => hub.accountChanged(account));
  accounts.on('snapshotAnswered', (viewer, answer) => hub.snapshotAnswered(viewer, answer));
  const openPositions = new OpenPositions({
    gateway,
    ledger,
    board,
    clock,
    live: (proof) => hub.current(proof),
    freshness,
  });
  const listPairs = new ListPairs({ sessions, openPositions, clock, logicalClock });
  return {
    lists,
    sessions,
    prover,
    hub,
    openPositions,
    listPairs,
    /** Resolves when reads of the account can no longer be older than its last order at any replica. */
    async catchUp(account: string) {
      if (!(await freshness.catchUp(account))) accounts.emit('changed', account);
    },
    /** How many an account has. Callers must have proof of the account. */
    holdings: {
      positions: (account: string) => board.sizeFor(account),
      orders: (account: string) => sessions.orderCount(account),
    },
    caches: {
      session: () => sessions.byteSize,
      positions: () => board.byteSize,
      account_version: () => freshness.byteSize,
    },
  };
}
