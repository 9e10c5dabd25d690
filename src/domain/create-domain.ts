import type { GatewayClient } from '../gateway/client.ts';
import { LogicalClock, systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Stores } from '../store/open-stores.ts';
import { Prover } from './account/prover.ts';
import { Sessions } from './account/sessions.ts';
import { createIdentity } from './auth/identity.ts';
import { ProofLedger } from './auth/proof.ts';
import { ProofAttempts } from './auth/proof-attempts.ts';
import { SignInLimits } from './auth/sign-in-limits.ts';
import { createVerifier } from './auth/verifier.ts';
import { polling } from './auth/viewer.ts';
import { ViewerGateway } from './auth/viewer-gateway.ts';
import { Catalogs } from './catalog/catalogs.ts';
import { PositionsHub } from './positions/hub.ts';
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
  readonly jwtJwksUrl: string | null;
  readonly jwtSecret: string | null;
  readonly jwtIssuer: string | null;
  readonly jwtAudience: string | null;
  readonly catalogMaxAgeSeconds: number;
  readonly catalogStaleSeconds: number;
  readonly positionsPollMs: number;
  readonly positionsPollMaxMs: number;
  readonly gatewayPollsPerSecond: number;
  readonly gatewayTimeoutMs: number;
  readonly orderTimeoutMs: number;
  readonly loginLimitPerMinute: number;
}

export interface DomainParts {
  readonly client: GatewayClient;
  readonly stores: Stores;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly settings: DomainSettings;
}

/** Creates the process-wide domain services and connects them to each other. */
export function createDomain({ client, stores, metrics, log, settings }: DomainParts) {
  const { records, versions, counters } = stores;
  const clock = systemClock;
  const random = Math.random;
  const logicalClock = new LogicalClock();
  const ledger = new ProofLedger({ clock, proofMs: settings.authProofSeconds * 1000 });
  const gateway = new ViewerGateway({
    client,
    ledger,
    attempts: new ProofAttempts({ clock }),
    onPositions: (viewer, answer) => sessions.positionsAnswered(viewer, answer),
  });
  const sessions: Sessions = new Sessions({
    gateway,
    ledger,
    clock,
    logicalClock,
    maxAgeMs: settings.sessionMaxAgeSeconds * 1000,
  });
  const prover = new Prover(ledger, sessions, logicalClock);
  const identify = createIdentity({
    clock,
    ledger,
    claimNames: { login: settings.gatewayLoginClaim, group: settings.gatewayGroupClaim },
    verify: createVerifier({
      jwksUrl: settings.jwtJwksUrl,
      secret: settings.jwtSecret,
      issuer: settings.jwtIssuer,
      audience: settings.jwtAudience,
    }),
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
  });
  const board = new PositionsBoard();
  const hub = new PositionsHub({
    source: {
      getOpenPositions: (viewer, previous) => gateway.getOpenPositions(polling(viewer), previous),
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
    pollsPerSecond: settings.gatewayPollsPerSecond,
    gatewayTimeoutMs: settings.gatewayTimeoutMs,
    onUnexpected: (error) => log.error({ err: error }, 'a poll failed with an unexpected error'),
  });
  const openPositions = new OpenPositions({
    gateway,
    ledger,
    board,
    clock,
    live: (proof) => hub.current(proof),
  });
  const orders = new Orders({
    gateway,
    records,
    clock,
    log,
    orderTimeoutMs: settings.orderTimeoutMs,
    onAccepted: ({ login }) => {
      sessions.accountChanged(login);
      hub.pollNow(login);
    },
  });
  const orderDesk = new OrderDesk(orders, prover, (outcome) => metrics.orders.inc({ outcome }));
  return {
    logicalClock,
    client,
    ledger,
    gateway,
    sessions,
    identify,
    catalogs,
    openPositions,
    prover,
    hub,
    holdings: {
      positions: (login: string) => board.sizeFor(login),
      orders: (login: string) => sessions.orderCount(login),
    },
    orders,
    orderDesk,
    signInLimits: new SignInLimits({ counters, perMinute: settings.loginLimitPerMinute }),
  };
}
