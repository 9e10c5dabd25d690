import type { GatewayClient } from '../gateway/client.ts';
import type { ClockSkew } from '../gateway/clock-skew.ts';
import { ACCOUNT } from '../lib/account.ts';
import { type LogicalClock, systemClock } from '../lib/clock.ts';
import { KnownKeys } from '../lib/limits/known-keys.ts';
import type { Log } from '../lib/log.ts';
import type { Dates } from '../store/dates.ts';
import type { SharedStore } from '../store/shared-store.ts';
import { AccountReads } from './account/account-reads.ts';
import { NewestPositions } from './account/newest-positions.ts';
import { Prover } from './account/prover.ts';
import { Sessions } from './account/sessions.ts';
import { Identity } from './auth/identity.ts';
import { type AccountProof, ProofLedger } from './auth/proof.ts';
import { TokenEnds } from './auth/token-ends.ts';
import { type TradingLimiter, UnknownTokens, WriteLimits } from './auth/trading-limits.ts';
import type { Verify } from './auth/verifier.ts';
import { createViewerGateway } from './auth/viewer-gateway.ts';
import { Catalogs } from './catalog/catalogs.ts';
import type { DomainMetrics } from './domain-metrics.ts';
import { OpenPositions } from './feed/open-positions.ts';
import { OwnLists } from './feed/own-lists.ts';
import { PollSchedule } from './feed/poll-schedule.ts';
import { createOrderDesk } from './trading/order-desk.ts';
import { orderLines } from './trading/order-line.ts';
import { Orders } from './trading/orders.ts';

interface DomainSettings {
  readonly authProofSeconds: number;
  readonly sessionMaxAgeSeconds: number;
  readonly gatewayLoginClaim: string;
  readonly gatewayGroupClaim: string;
  readonly gatewayForwardHeaders: readonly string[];
  readonly catalogMaxAgeSeconds: number;
  readonly catalogStaleSeconds: number;
  readonly positionsPollMs: number;
  readonly gatewayPollsPerSecond: number;
  readonly gatewayTimeoutMs: number;
  readonly orderTimeoutMs: number;
  readonly gatewayOrderNumbers: 'order' | 'position';
  readonly logAccountKey: string | null;
}

export interface DomainParts {
  readonly client: GatewayClient;
  readonly logicalClock: LogicalClock;
  readonly stores: Pick<SharedStore, 'records' | 'replicas'>;
  readonly limiter: TradingLimiter;
  readonly metrics: DomainMetrics;
  /** Measures how far the gateway's clock is ahead of this machine's. */
  readonly clockSkew: Pick<ClockSkew, 'earlyMs'>;
  readonly dates: () => Dates;
  readonly log: Log;
  readonly verify: Verify | null;
  readonly settings: DomainSettings;
  readonly cacheBytes: Readonly<Record<'catalogs' | 'sessions' | 'positions', number>>;
}

const KNOWN_TOKEN_MS = 24 * 3_600_000;

/** Creates the process-wide domain services and connects them to each other. */
export function createDomain(parts: DomainParts) {
  const { client, logicalClock, limiter, metrics, clockSkew, log, settings, cacheBytes } = parts;
  const { records, replicas } = parts.stores;
  const clock = systemClock;
  const { random } = Math;
  const sessionMaxAgeMs = settings.sessionMaxAgeSeconds * 1000;

  const ledger = new ProofLedger({
    clock,
    logicalClock,
    proofMs: settings.authProofSeconds * 1000,
    onJudged: (verdict) => metrics.tokens.inc({ result: verdict }),
  });
  const identity = new Identity({
    clock,
    ledger,
    onRefused: ({ fault }) => metrics.tokens.inc({ result: fault }),
    claimNames: { login: settings.gatewayLoginClaim, group: settings.gatewayGroupClaim },
    verify: parts.verify,
    signatureProves: settings.gatewayForwardHeaders.length === 0,
  });
  const knownTokens = new KnownKeys(clock, KNOWN_TOKEN_MS, replicas?.knownTokens);
  const unknownTokens = new UnknownTokens({ limiter, known: knownTokens, ledger });
  const writeLimits = new WriteLimits(limiter, knownTokens);

  const versions = replicas?.accountVersions ?? null;
  const accountReads = new AccountReads(logicalClock, versions, (account) =>
    openPositions.accountChanged(account),
  );
  const gateway = createViewerGateway({
    client,
    ledger,
    unknownTokens,
    onWritten: (viewer) => accountReads.written(viewer[ACCOUNT]),
  });
  const newestPositions = new NewestPositions(ledger, cacheBytes.positions);
  const sessions = new Sessions({
    accountReads,
    newestPositions,
    gateway,
    ledger,
    clock,
    logicalClock,
    maxAgeMs: sessionMaxAgeMs,
    maxBytes: cacheBytes.sessions,
  });
  const prover = new Prover({ ledger, sessions, gateway, accountReads, logicalClock });

  const { gatewayPollsPerSecond: pollsPerSecond } = settings;
  const schedule = new PollSchedule({ clock, pollsPerSecond, random });
  const listOptions = {
    ledger,
    schedule,
    clock,
    random,
    pollMs: settings.positionsPollMs,
    firstListMs: settings.gatewayTimeoutMs,
  };
  const openPositions = new OpenPositions({
    ...listOptions,
    gateway,
    sessions,
    newestPositions,
    accountReads,
    sessionMaxAgeMs,
  });
  const ownLists = new OwnLists({ ...listOptions, prover, logicalClock });

  const catalogs = new Catalogs({
    gateway,
    ledger,
    prover,
    clock,
    gatewayDate: (ms) => clock.dateOf(ms) + (clockSkew.earlyMs ?? 0),
    random,
    log,
    maxAgeMs: settings.catalogMaxAgeSeconds * 1000,
    staleMs: settings.catalogStaleSeconds * 1000,
    maxBytes: cacheBytes.catalogs,
    onFetched: (outcome) => metrics.catalogFetches.inc({ outcome }),
  });

  const lines = orderLines(settings.logAccountKey);
  const orders = new Orders({
    gateway,
    records,
    clock,
    log,
    orderTimeoutMs: settings.orderTimeoutMs,
    orderNumbers: settings.gatewayOrderNumbers,
    onAccountChanged: (account) => accountReads.changed(account),
    dates: parts.dates,
    lines,
    metrics,
  });
  const orderDesk = createOrderDesk(orders, prover, writeLimits, metrics, log, lines);

  metrics.watch({ catalogs, openPositions, ownLists, schedule, orders });
  return {
    /** The gateway without a user, for signing in. */
    client,
    gateway,
    logicalClock,
    ledger,
    tokenEnds: new TokenEnds(ledger, clock),
    identify: identity.identify.bind(identity),
    writeLimits,
    prover,
    accountReads,
    sessions,
    openPositions,
    ownLists,
    catalogs,
    orders,
    orderDesk,
    /** After this, no read of the account is older than its last order at any replica. */
    async catchUp({ [ACCOUNT]: account }: AccountProof) {
      if (!(await accountReads.catchUp(account))) accountReads.changed(account);
    },
    /** Called when the gateway is back: feeds that back off are polled soon. */
    resumePolls: () => schedule.resume(),
    onSignIn: (outcome: 'granted' | 'rejected' | 'limited' | 'failed') =>
      metrics.signIns.inc({ outcome }),
    caches: {
      token: () => ledger.byteSize + knownTokens.byteSize + identity.byteSize,
      session: () => sessions.byteSize,
      positions: () => newestPositions.byteSize,
      account_version: () => accountReads.byteSize,
      catalog: () => catalogs.byteSize,
    },
  };
}
