import { EventEmitter } from 'node:events';
import { type LogicalClock, steadyClock, systemClock } from '../../lib/clock.ts';
import { createKnownKeys } from '../../lib/limits/known-keys.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import { KNOWN_MS } from '../../lib/limits/table.ts';
import type { Log } from '../../lib/log.ts';
import type { GatewayClient } from '../gateway/client.ts';
import type { ClockSkew } from '../gateway/clock-skew.ts';
import type { Stores } from '../store/open-stores.ts';
import type { AccountEvents } from './account/account-events.ts';
import { AccountFreshness } from './account/account-freshness.ts';
import { ListAgreement } from './account/list-agreement.ts';
import { Prover } from './account/prover.ts';
import { Sessions } from './account/sessions.ts';
import { createIdentity, createKnownTokens } from './auth/identity.ts';
import { ProofLedger } from './auth/proof.ts';
import { createProofTrials } from './auth/proof-trials.ts';
import { TokenRefusals } from './auth/token-refusals.ts';
import type { Verify } from './auth/verifier.ts';
import { polling } from './auth/viewer.ts';
import { ViewerGateway } from './auth/viewer-gateway.ts';
import { createWriteLimits } from './auth/write-limits.ts';
import { Catalogs } from './catalog/catalogs.ts';
import type { DomainMetrics } from './domain-metrics.ts';
import { PositionsHub } from './positions/hub.ts';
import { ListPairs } from './positions/list-pairs.ts';
import { OpenPositions } from './positions/open-positions.ts';
import { PositionsBoard } from './positions/positions-board.ts';
import { OrderDesk } from './trading/order-desk.ts';
import { Orders } from './trading/orders.ts';

/** The configuration's values that the domain layer depends on. */
export interface DomainSettings {
  readonly authProofSeconds: number;
  readonly sessionMaxAgeSeconds: number;
  readonly gatewayLoginClaim: string;
  readonly gatewayGroupClaim: string;
  readonly catalogMaxAgeSeconds: number;
  readonly catalogStaleSeconds: number;
  readonly positionsPollMs: number;
  readonly positionsPollMaxMs: number;
  readonly gatewayPollsPerSecond: number;
  readonly gatewayTimeoutMs: number;
  readonly orderTimeoutMs: number;
}

export interface DomainParts {
  readonly client: GatewayClient;
  readonly logicalClock: LogicalClock;
  readonly stores: Stores;
  readonly limiter: Limiter;
  readonly metrics: DomainMetrics;
  /** How far the gateway's clock is ahead of this machine's; null: not known yet. */
  readonly clockSkew: Pick<ClockSkew, 'ms' | 'aheadMs'>;
  readonly log: Log;
  /** Null where no key is configured. */
  readonly verify: Verify | null;
  readonly settings: DomainSettings;
  readonly heartbeatMs?: number | undefined;
  readonly cacheBytes: Readonly<Record<'catalogs' | 'sessions' | 'positions', number>>;
}

/** Creates the process-wide domain services and connects them to each other. */
export function createDomain({
  client,
  logicalClock,
  stores,
  limiter,
  metrics,
  clockSkew,
  log,
  verify,
  settings,
  heartbeatMs,
  cacheBytes,
}: DomainParts) {
  const { records, versions, accountVersions, limits } = stores;
  const clock = systemClock;
  const random = Math.random;
  /** Whether a token that is so far past its time, or below 0 before it, is in time by the gateway's clock. */
  const isOfSkew = (offByMs: number) => {
    const skewMs = clockSkew.ms ?? 0;
    return skewMs * offByMs < 0 && Math.abs(skewMs) >= Math.abs(offByMs);
  };
  const ledger = new ProofLedger({
    clock,
    logicalClock,
    proofMs: settings.authProofSeconds * 1000,
    keptMs: settings.catalogStaleSeconds * 1000,
    onJudged(verdict, { expiresAtMs }) {
      const isByClock =
        verdict === 'refused' && expiresAtMs !== null && isOfSkew(clock.date() - expiresAtMs);
      metrics.tokens.add(isByClock ? 'refused_by_clock' : verdict);
    },
  });
  const remembered = (name: keyof typeof KNOWN_MS) =>
    createKnownKeys(clock, KNOWN_MS[name], limits?.keys(name));
  const known = remembered('token');
  const signedIn = remembered('pair');
  const trials = createProofTrials(clock, limiter, known, ledger);
  const tokenRefusals = new TokenRefusals({
    clock: steadyClock,
    gatewayNow: () => clock.date() + clockSkew.aheadMs,
    known,
  });
  const accounts: AccountEvents = new EventEmitter();
  const lists = new ListAgreement(steadyClock);
  accounts.on('positionsAnswered', (viewer, answer) => lists.positionsAnswered(viewer, answer));
  accounts.on('snapshotAnswered', (viewer, answer) => lists.snapshotAnswered(viewer, answer));
  const gateway = new ViewerGateway({
    client,
    ledger,
    trials,
    refusals: tokenRefusals,
    onPositions: (viewer, answer) => accounts.emit('positionsAnswered', viewer, answer),
    onSession: (viewer, answer) => accounts.emit('snapshotAnswered', viewer, answer),
  });
  const freshness = new AccountFreshness({
    versions: accountVersions,
    onChanged: (login) => accounts.emit('changed', login),
    onAnyChanged: () => accounts.emit('anyChanged'),
  });
  const board = new PositionsBoard({ logicalClock, maxBytes: cacheBytes.positions });
  accounts.on('changed', (login) => board.accountChanged(login));
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
  accounts.on('changed', (login) => sessions.accountChanged(login));
  accounts.on('anyChanged', () => sessions.anyAccountChanged());
  const prover = new Prover(ledger, sessions, logicalClock);
  const knownTokens = createKnownTokens();
  const identify = createIdentity({
    clock,
    ledger,
    known: knownTokens,
    onRefused({ fault, offByMs }, viewer) {
      const isByClock = offByMs !== null && isOfSkew(offByMs);
      metrics.tokens.add(isByClock ? 'refused_by_clock' : fault);
      if (viewer !== null) tokenRefusals.refused('verification', viewer, false);
    },
    onVerified: ({ login }) => tokenRefusals.accepted('verification', login),
    claimNames: { login: settings.gatewayLoginClaim, group: settings.gatewayGroupClaim },
    verify,
  });
  const catalogs = new Catalogs({
    gateway,
    ledger,
    prover,
    clock,
    random,
    log,
    maxAgeMs: settings.catalogMaxAgeSeconds * 1000,
    staleMs: settings.catalogStaleSeconds * 1000,
    versions,
    maxBytes: cacheBytes.catalogs,
    onRead: (source) => metrics.catalogReads.add(source),
    onFetched: (outcome) => metrics.catalogFetches.add(outcome),
  });
  const hub = new PositionsHub({
    source: {
      getOpenPositions(viewer, previous) {
        // Not awaited: where another replica's order has changed the account, the feed reads it once more.
        void freshness.catchUp(viewer.login);
        return gateway.getOpenPositions(polling(viewer), previous);
      },
      cachedSession: (viewer) => sessions.cached(viewer),
      getSession: (viewer, after) => sessions.poll(viewer, after),
    },
    board,
    clock,
    random,
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
      if (merged > 0) metrics.events.merged.add(merged);
    },
    onUnexpected: (error) => log.error({ err: error }, 'a poll failed with an unexpected error'),
  });
  accounts.on('changed', (login) => hub.accountChanged(login));
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
  const orders = new Orders({
    gateway,
    records,
    clock,
    log,
    orderTimeoutMs: settings.orderTimeoutMs,
    onAccountChanged: (login) => accounts.emit('changed', login),
    gatewayAheadMs: () => clockSkew.aheadMs,
    onNumberTwice: () => metrics.numbersTwice.add(),
    onSettledLate: (outcome) => metrics.lateOrders.add(outcome),
  });
  const writeLimits = createWriteLimits(limiter, signedIn, known);
  const orderDesk = new OrderDesk(orders, prover, writeLimits, metrics);
  metrics.watch({ catalogs, hub, orders, lists, tokenRefusals });
  return {
    logicalClock,
    /** The gateway without a user, for signing in. */
    client,
    ledger,
    /** The gateway as one viewer may use it. */
    gateway,
    sessions,
    identify,
    catalogs,
    openPositions,
    listPairs,
    prover,
    hub,
    /** Resolves when reads of the account can no longer be older than its last order at any replica. */
    async catchUp(login: string) {
      if (!(await freshness.catchUp(login))) accounts.emit('changed', login);
    },
    /** How many an account has. Callers must have proof of the account. */
    holdings: {
      positions: (login: string) => board.sizeFor(login),
      orders: (login: string) => sessions.orderCount(login),
    },
    orders,
    orderDesk,
    clientOf: ledger.clientOf,
    known,
    writeLimits,
    caches: {
      session: () => sessions.byteSize,
      positions: () => board.byteSize,
      account_version: () => freshness.byteSize,
      token: () =>
        ledger.byteSize +
        trials.byteSize +
        known.byteSize +
        signedIn.byteSize +
        tokenRefusals.byteSize +
        knownTokens.calculatedSize,
      catalog: () => catalogs.byteSize,
    },
    /** Called with the end of each field `login`. */
    onSignIn: (outcome: 'granted' | 'rejected' | 'limited' | 'failed') =>
      metrics.signIns.add(outcome),
  };
}
