import { setTimeout as delay } from 'node:timers/promises';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { type Config, ConfigError } from './config.ts';
import { Prover } from './domain/account/prover.ts';
import { Sessions } from './domain/account/sessions.ts';
import { createIdentity } from './domain/auth/identity.ts';
import { ProofLedger } from './domain/auth/proof.ts';
import { ProofAttempts } from './domain/auth/proof-attempts.ts';
import { SignInLimits } from './domain/auth/sign-in-limits.ts';
import { createVerifier } from './domain/auth/verifier.ts';
import { polling } from './domain/auth/viewer.ts';
import { ViewerGateway } from './domain/auth/viewer-gateway.ts';
import { createCatalogs } from './domain/catalog/catalogs.ts';
import { PositionsHub } from './domain/positions/hub.ts';
import { OpenPositions } from './domain/positions/open-positions.ts';
import { PositionsBoard } from './domain/positions/positions-board.ts';
import { OrderDesk } from './domain/trading/order-desk.ts';
import { Orders } from './domain/trading/orders.ts';
import { ClientKeys } from './engine/client-key.ts';
import { DocumentSource } from './engine/document-source.ts';
import { Documents } from './engine/documents.ts';
import { Engine } from './engine/engine.ts';
import { HeldAnswers } from './engine/held-answers.ts';
import { ManifestError } from './engine/manifest.ts';
import { Publisher } from './engine/publisher.ts';
import { RequestQuota } from './engine/request-quota.ts';
import { SubscriptionSlots } from './engine/subscription-slots.ts';
import { openTrustedDocuments, type TrustedDocuments } from './engine/trusted-documents.ts';
import { GatewayClient } from './gateway/client.ts';
import { measured } from './gateway/measured-send.ts';
import { connectionsOf, createPools } from './gateway/pools.ts';
import { Resilience } from './gateway/resilience/resilience.ts';
import { createTransport } from './gateway/transport.ts';
import { steadyClock, systemClock } from './lib/clock.ts';
import { createLog, type Log } from './lib/log.ts';
import { Metrics } from './lib/metrics.ts';
import { Turns } from './lib/turns.ts';
import { type Sandbox, startSandbox } from './sandbox/start.ts';
import { buildSchema } from './schema/schema.ts';
import type { Services } from './schema/services.ts';
import { AdminServer } from './server/admin-server.ts';
import { ClientAddresses } from './server/client-address.ts';
import { GraphiQL } from './server/graphiql.ts';
import { HttpServer } from './server/http-server.ts';
import { Readiness } from './server/readiness.ts';
import { SandboxDoor } from './server/sandbox-door.ts';
import type { ServerSettings } from './server/settings.ts';
import { SocketLimits } from './server/socket-limits.ts';
import { WebSocketDoor } from './server/websocket.ts';

import { openJournalOrderRecords } from './store/journal-order-records.ts';
import { createMemoryOrderRecords } from './store/memory-order-records.ts';
import { createMemoryRateCounters } from './store/memory-rate-counters.ts';
import type { OrderRecords } from './store/order-records.ts';
import type { RateCounters } from './store/rate-counters.ts';
import { type CatalogVersions, openRedisCatalogVersions } from './store/redis-catalog-versions.ts';
import { openRedisOrderRecords } from './store/redis-order-records.ts';
import { openRedisRateCounters } from './store/redis-rate-counters.ts';

export interface App {
  readonly url: string;
  readonly adminUrl: string;
  readonly sandbox: Sandbox | null;
  /** Stops taking work, finishes what is under way, closes everything. */
  close(): Promise<void>;
}

const PING_MS = 12_000;
// Longer than the minute for which a client may be too busy, or too far down a tunnel, to read.
const SILENCE_MS = 75_000;
const MAX_OPERATIONS_PER_SOCKET = 100;
// A person has a few devices with a few windows each.
const SOCKETS_PER_ACCOUNT = 128;
const SUBSCRIPTIONS_PER_ACCOUNT = 256;
// Until a token is proved, which its first subscription does: networks put many behind one address.
const UNPROVED_PER_ADDRESS = 5_000;
// Sockets included; beyond it new connections are closed at once.
const MAX_CONNECTIONS = 20_000;
// Of a read's deadline: a host that swallows packets is known as one before the deadline blurs it.
const CONNECT_SHARE = 0.7;

export interface AppOptions {
  readonly log?: Log;
  /** Off: every request takes the way of the unusual ones. It answers alike, and is slower. */
  readonly directPath?: boolean;
}

/** The composition root: the one place that knows every layer and makes every lasting object. */
export async function startApp(
  config: Config,
  { log = createAppLog(config), directPath = true }: AppOptions = {},
): Promise<App> {
  // What was started is closed again where a later part cannot start.
  await using started = new AsyncDisposableStack();
  const sandbox = config.sandbox ? started.use(await startEmbeddedSandbox(config)) : null;
  const pools = createPools({
    gatewayUrl: sandbox?.url ?? config.gatewayUrl ?? '',
    connections: config.gatewayConnections,
    connectTimeoutMs: config.gatewayTimeoutMs * CONNECT_SHARE,
  });
  started.defer(() => pools.close());
  const metrics = new Metrics();
  const resilience = new Resilience(
    measured(createTransport(pools), (operation, outcome, seconds) =>
      metrics.gatewayCalls.observe({ operation, outcome }, seconds),
    ),
    {
      clock: steadyClock,
      random: Math.random,
      pollConnections: Math.ceil(connectionsOf('reads', config.gatewayConnections) / 2),
      onCircuit: (backend, state) => log.warn({ backend, state }, 'circuit breaker'),
    },
  );
  const client = new GatewayClient({
    send: resilience.send,
    headers: config.gatewayHeaders,
    forwardClient: config.gatewayForwardClient,
    directionField: config.gatewayDirectionField,
    mobileWallet: config.gatewayMobileWallet,
    timeUnit: config.gatewayTimeUnit,
    timeoutMs: config.gatewayTimeoutMs,
    orderTimeoutMs: config.orderTimeoutMs,
    catalogTimeoutMs: config.catalogTimeoutMs,
    maxBytes: config.gatewayMaxBytes,
    catalogMaxBytes: config.catalogMaxBytes,
  });
  const records = await openRecords(config, log);
  started.defer(() => records.close());
  const versions = await openCatalogVersions(config, log);
  started.defer(() => versions?.close());
  const counters = await openCounters(config, log);
  started.defer(() => counters.close());
  const { services, orders, ledger } = createServices(config, log, {
    client,
    records,
    versions,
    counters,
    metrics,
  });
  started.defer(() => services.hub.close());
  const schema = buildSchema();
  const documents = new Documents({
    schema,
    limits: config,
    introspection: config.introspection,
    suggestions: !config.production,
  });
  const trusted = await openTrusted(config, documents, log);
  if (trusted) started.defer(() => trusted.close());
  const clients = new ClientKeys(ledger);
  const engine = new Engine({
    schema,
    services,
    documents: new DocumentSource({
      documents,
      trusted,
      trustedOnly: config.persistedDocumentsOnly,
      log,
    }),
    clients,
    quota: new RequestQuota({ counters, perMinute: config.rateLimitPerMinute }),
    subscriptions: new SubscriptionSlots({
      perAccount: SUBSCRIPTIONS_PER_ACCOUNT,
      perAddress: UNPROVED_PER_ADDRESS,
    }),
    maxCost: config.maxCost,
    publisher: new Publisher({ log, metrics, receipts: config.sandbox }),
    suggestions: !config.production,
    held: new HeldAnswers(),
  });

  const addresses = new ClientAddresses({
    trustedProxies: config.trustedProxies,
    clock: systemClock,
    log,
  });
  const settings: ServerSettings = {
    engine,
    log,
    addresses,
    origins: config.corsOrigins,
    maxBodyBytes: config.maxBodyBytes,
  };
  const readiness = new Readiness();
  readiness.watch('orders', () => records.trouble());
  readiness.watch('limits', () => counters.trouble());
  readiness.watch('documents', () => trusted?.trouble() ?? null);
  readiness.watch('proxies', () => addresses.trouble());
  readiness.watch('gateway', () => resilience.trouble());
  readiness.watch('catalog', () =>
    services.catalogs.staleGroups.length > 0 ? 'a catalog is past its time' : null,
  );
  const webSockets = new WebSocketDoor({
    ...settings,
    clock: systemClock,
    pingMs: PING_MS,
    silenceMs: SILENCE_MS,
    maxOperations: MAX_OPERATIONS_PER_SOCKET,
    clients,
    limits: new SocketLimits({
      perAccount: SOCKETS_PER_ACCOUNT,
      perAddress: UNPROVED_PER_ADDRESS,
    }),
  });
  const server = new HttpServer({
    ...settings,
    readiness,
    webSockets,
    graphiql: config.graphiql
      ? new GraphiQL({ demoToken: sandbox ? () => demoToken(client) : null })
      : null,
    sandbox: sandbox ? new SandboxDoor(sandbox.url, config.corsOrigins) : null,
    maxConnections: MAX_CONNECTIONS,
    directPath,
    onAnswered: (status) => metrics.requests.inc({ status: `${Math.floor(status / 100)}xx` }),
    sdl: config.introspection ? printSchema(lexicographicSortSchema(schema)) : null,
  });
  const { hub, catalogs } = services;
  metrics.watch('sockets', 'WebSockets that are open.', () => webSockets.size);
  metrics.watch('feeds', 'Accounts that are polled.', () => hub.stats().feeds);
  metrics.watch('feeds_delayed', 'Feeds whose last poll failed.', () => hub.stats().delayed);
  metrics.watch('subscriptions', 'Live subscriptions.', () => hub.stats().subscriptions);
  metrics.watch('open_circuits', 'Backends left alone.', () => resilience.stats().openCircuits);
  metrics.watch('retries', 'Calls repeated since the start.', () => resilience.stats().retries);
  metrics.watch('stale_catalogs', 'Catalogs past their time.', () => catalogs.staleGroups.length);
  metrics.watch('orders_under_way', 'Orders without an outcome yet.', () => orders.underWay);
  metrics.watch('order_records', 'Order records that are held.', () => records.held());
  const admin = new AdminServer(metrics, readiness);
  const adminPort = await admin.listen(config.adminPort, config.adminHost);
  started.defer(() => admin.close());
  const port = await server.listen(config.port, config.host);
  readiness.serving();
  const resources = started.move();

  async function drain(): Promise<void> {
    await Promise.all([webSockets.drain(), server.drain()]);
    // An order outlives the request that asked for it; its outcome is written down first.
    await orders.drain();
  }

  async function close(): Promise<void> {
    readiness.draining();
    await delay(config.shutdownDelayMs);
    const isDrained = await Promise.race([
      drain().then(() => true),
      delay(config.shutdownGraceMs, false, { ref: false }),
    ]);
    if (!isDrained) log.warn({}, 'the time to drain is over; what is left is cut off');
    webSockets.terminate();
    server.terminate();
    await resources.disposeAsync();
  }

  return {
    url: addressOf(config.host, port),
    adminUrl: addressOf(config.adminHost, adminPort),
    sandbox,
    close,
  };
}

interface Parts {
  readonly client: GatewayClient;
  readonly records: OrderRecords;
  readonly versions: CatalogVersions | null;
  readonly counters: RateCounters;
  readonly metrics: Metrics;
}

function createServices(
  config: Config,
  log: Log,
  { client, records, versions, counters, metrics }: Parts,
) {
  const clock = systemClock;
  const random = Math.random;
  const turns = new Turns();
  const ledger = new ProofLedger({ clock, proofMs: config.authProofSeconds * 1000 });
  const gateway = new ViewerGateway(client, ledger, new ProofAttempts({ clock }));
  const sessions = new Sessions({
    gateway,
    ledger,
    clock,
    turns,
    maxAgeMs: config.sessionMaxAgeSeconds * 1000,
  });
  gateway.onPositions = (viewer, answer) => sessions.positionsAnswered(viewer, answer);
  const prover = new Prover(ledger, sessions, turns);
  const identify = createIdentity({
    clock,
    ledger,
    claimNames: { login: config.gatewayLoginClaim, group: config.gatewayGroupClaim },
    verify: createVerifier({
      jwksUrl: config.jwtJwksUrl,
      secret: config.jwtSecret,
      issuer: config.jwtIssuer,
      audience: config.jwtAudience,
    }),
  });
  const catalogs = createCatalogs({
    gateway,
    ledger,
    prover,
    clock,
    random,
    log,
    maxAgeMs: config.catalogMaxAgeSeconds * 1000,
    staleMs: config.catalogStaleSeconds * 1000,
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
    pollMs: config.positionsPollMs,
    pollMaxMs: config.positionsPollMaxMs,
    pollsPerSecond: config.gatewayPollsPerSecond,
    gatewayTimeoutMs: config.gatewayTimeoutMs,
    onUnexpected: (error) => log.error({ err: error }, 'a poll failed for a reason of our own'),
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
    orderTimeoutMs: config.orderTimeoutMs,
    onAccepted: ({ login }) => {
      sessions.accountChanged(login);
      hub.pollNow(login);
    },
  });
  const orderDesk = new OrderDesk(orders, prover, (outcome) => metrics.orders.inc({ outcome }));
  const services: Services = {
    turns,
    client,
    gateway,
    sessions,
    identify,
    catalogs,
    openPositions,
    prover,
    hub,
    orderDesk,
    signInLimits: new SignInLimits({ counters, perMinute: config.loginLimitPerMinute }),
  };
  return { services, orders, ledger };
}

function openCounters({ redisUrl }: Config, log: Log): Promise<RateCounters> {
  if (redisUrl === null) return Promise.resolve(createMemoryRateCounters());
  const onWarn = (message: string) => log.warn({}, message);
  return openRedisRateCounters({ url: redisUrl, clock: systemClock, onWarn });
}

async function openTrusted(
  { persistedDocuments: path }: Config,
  documents: Documents,
  log: Log,
): Promise<TrustedDocuments | null> {
  if (path === null) return null;
  try {
    return await openTrustedDocuments({ path, documents, clock: systemClock, log });
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new ConfigError([`PERSISTED_DOCUMENTS: ${error.message}`]);
  }
}

/** What other replicas' catalogs held; null where there are none. */
async function openCatalogVersions(
  { redisUrl }: Config,
  log: Log,
): Promise<CatalogVersions | null> {
  if (redisUrl === null) return null;
  return openRedisCatalogVersions({ url: redisUrl, onWarn: (message) => log.warn({}, message) });
}

/** Redis where replicas share, else a file of this process alone, else memory. */
function openRecords(config: Config, log: Log): Promise<OrderRecords> {
  const options = {
    max: config.orderRecordsMax,
    uptimeMs: () => performance.now(),
    onWarn: (message: string) => log.warn({}, message),
  };
  if (config.redisUrl !== null) {
    return openRedisOrderRecords({ ...options, url: config.redisUrl, clock: systemClock });
  }
  if (config.orderJournal === 'memory') return Promise.resolve(createMemoryOrderRecords(options));
  return openJournalOrderRecords({ ...options, path: config.orderJournal, nowMs: Date.now });
}

export function createAppLog(config: Config): Log {
  return createLog({ level: config.logLevel, format: config.sandbox ? 'compact' : 'json' });
}

function startEmbeddedSandbox(config: Config): Promise<Sandbox> {
  return startSandbox({
    seed: config.sandboxSeed,
    instruments: config.sandboxInstruments,
    tickMs: config.sandboxTickMs,
    secret: config.jwtSecret ?? undefined,
    loginClaim: config.gatewayLoginClaim,
    groupClaim: config.gatewayGroupClaim,
    directionField: config.gatewayDirectionField,
    mobileWallet: config.gatewayMobileWallet,
  });
}

async function demoToken(client: GatewayClient): Promise<string | null> {
  const answer = await client.login({ token: null }, 'demo@example.com', 'demo');
  return 'accessToken' in answer ? answer.accessToken : null;
}

function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
