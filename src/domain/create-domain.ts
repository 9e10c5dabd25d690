import { EventEmitter } from 'node:events';
import { systemClock } from '../lib/clock.ts';
import { KnownKeys } from '../lib/limits/known-keys.ts';
import type { AccountEvents } from './account/account-events.ts';
import { createAccountServices } from './account-services.ts';
import { Identity } from './auth/identity.ts';
import { ProofLedger } from './auth/proof.ts';
import { UnknownTokens } from './auth/unknown-tokens.ts';
import { createViewerGateway } from './auth/viewer-gateway.ts';
import { WriteLimits } from './auth/write-limits.ts';
import { agesOf } from './catalog/cache/freshness.ts';
import { Catalogs } from './catalog/catalogs.ts';
import type { DomainParts } from './domain-parts.ts';
import { createOrderDesk } from './trading/order-desk.ts';
import { orderLines } from './trading/order-line.ts';
import { Orders } from './trading/orders.ts';

/** How long a token is known that the gateway has accepted. */
const KNOWN_TOKEN_MS = 24 * 3_600_000;

/** Creates the process-wide domain services and connects them to each other. */
export function createDomain(parts: DomainParts) {
  const { client, logicalClock, limiter, metrics, clockSkew, log, settings } = parts;
  const { records, replicas } = parts.stores;
  const clock = systemClock;
  const ages = agesOf(settings);
  const known = new KnownKeys(clock, KNOWN_TOKEN_MS, replicas?.knownTokens);
  const ledger = new ProofLedger({
    clock,
    logicalClock,
    proofMs: settings.authProofSeconds * 1000,
    onJudged: (verdict) => metrics.tokens.inc({ result: verdict }),
  });
  const unknownTokens = new UnknownTokens({ limiter, known, ledger });
  const accounts: AccountEvents = new EventEmitter();
  const gateway = createViewerGateway({
    client,
    ledger,
    unknownTokens,
    onWritten: ({ account }) => reads.joinedReads.written(account),
  });
  const reads = createAccountServices(parts, accounts, gateway, ledger);
  const { prover, feeds } = reads;
  const identity = new Identity({
    clock,
    ledger,
    onRefused: ({ fault }) => metrics.tokens.inc({ result: fault }),
    claimNames: { login: settings.gatewayLoginClaim, group: settings.gatewayGroupClaim },
    verify: parts.verify,
    signatureProves: settings.gatewayForwardHeaders.length === 0,
  });
  const catalogs = new Catalogs({
    gateway,
    ledger,
    prover,
    clock,
    gatewayDate: (ms) => clock.dateOf(ms) + (clockSkew.earlyMs ?? 0),
    random: Math.random,
    log,
    ...ages,
    maxBytes: parts.cacheBytes.catalogs,
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
    onAccountChanged: (account) => accounts.emit('changed', account),
    gatewayAheadMs: () => clockSkew.aheadMs,
    gatewaySkewMs: () => clockSkew.earlyMs,
    lines,
    metrics,
  });
  const writeLimits = new WriteLimits(limiter, known);
  const orderDesk = createOrderDesk(orders, prover, writeLimits, metrics, log, lines);
  metrics.watch({ catalogs, feeds, orders });
  return {
    ...reads,
    logicalClock,
    /** The gateway without a user, for signing in. */
    client,
    ledger,
    /** The gateway as one viewer may use it. */
    gateway,
    identify: identity.identify.bind(identity),
    catalogs,
    orders,
    orderDesk,
    watchCutOffs: (signal: AbortSignal) => orders.watchCutOffs(signal),
    writeLimits,
    caches: {
      ...reads.caches,
      token: () => ledger.byteSize + known.byteSize + identity.byteSize,
      catalog: () => catalogs.byteSize,
    },
    /** Called with the end of each field `login`. */
    onSignIn: (outcome: 'granted' | 'rejected' | 'limited' | 'failed') =>
      metrics.signIns.inc({ outcome }),
  };
}
