import type { GraphQLSchema } from 'graphql';
import { graphiqlUsers, startEmbeddedSandbox } from './app/embedded-sandbox.ts';
import { Metrics } from './app/metrics.ts';
import { type Build, programBuild } from './app/program-version.ts';
import {
  atAddress,
  openAll,
  openConfiguredDocuments,
  openConfiguredStores,
  withAddressProblems,
} from './app/resources.ts';
import { createShutdown } from './app/shutdown.ts';
import { openConfiguredTracing } from './app/tracing.ts';
import { WrongSettings } from './app/wrong-settings.ts';
import type { Config } from './config.ts';
import { ClientKeys } from './domain/auth/client-key.ts';
import { createVerifier } from './domain/auth/verifier.ts';
import { createDomain } from './domain/create-domain.ts';
import { createGateway } from './gateway/create-gateway.ts';
import { watchAddress } from './gateway/watch-address.ts';
import { Graph } from './graph.ts';
import { steadyClock, systemClock } from './lib/clock.ts';
import type { Eventually } from './lib/eventually.ts';
import { FairScheduler } from './lib/fair-scheduler.ts';
import {
  createLog,
  type Log,
  type LogDestination,
  type LogFormat,
  openLogOutput,
} from './lib/log.ts';
import type { BufferedOutput } from './lib/log-output.ts';
import { MemoryWatch } from './lib/memory-watch.ts';
import { CostQuota } from './plugins/cost/cost-quota.ts';
import { Documents } from './plugins/documents/documents.ts';
import { ErrorCodes } from './plugins/errors/error-codes.ts';
import { EventPace } from './plugins/live/event-pace.ts';
import type { OtherPlugin } from './plugins/plugin.ts';
import { ResponseCache } from './plugins/response-cache/response-cache.ts';
import { PersistedTexts } from './plugins/trusted-documents/persisted-texts.ts';
import type { Sandbox } from './sandbox/start.ts';
import { isFault } from './schema/error-codes.ts';
import { printedSchema } from './schema/printed-schema.ts';
import { publicCause, reasonOf } from './schema/public-error.ts';
import { buildSchema } from './schema/schema.ts';
import { AdminServer } from './server/admin/admin-server.ts';
import { Readiness } from './server/admin/readiness.ts';
import { SendBuffers } from './server/back-pressure/send-buffers.ts';
import { DemoPage } from './server/demo-page/demo-page.ts';
import { GraphiQL } from './server/graphiql/graphiql.ts';
import { HttpServer } from './server/http/http-server.ts';
import { SandboxProxy } from './server/http/sandbox-proxy.ts';
import { CutLog } from './server/receive/cut-log.ts';
import { MessageBudgets } from './server/receive/message-budgets.ts';
import { ReceiveBuffers } from './server/receive/receive-buffers.ts';
import { AccessLog } from './server/request/access-log.ts';
import { BearerTokens } from './server/request/bearer.ts';
import { ClientAddresses } from './server/request/client-address.ts';
import { ClientNames } from './server/request/client-names.ts';
import { RequestIds } from './server/request/request-id.ts';
import type { ServerSettings } from './server/settings.ts';
import { SocketLimits } from './server/websocket/socket-limits.ts';
import { WebSocketEndpoint } from './server/websocket/websocket-endpoint.ts';
import { FillForecast } from './store/fill-forecast.ts';
import { FullestAccounts } from './store/fullest-accounts.ts';
import { measuredOrderRecords } from './store/measured-order-records.ts';

export interface App {
  readonly build: Build;
  readonly url: string;
  readonly adminUrl: string;
  readonly sandbox: Sandbox | null;
  /** Stops accepting work, finishes in-flight requests and closes everything. */
  close(): Promise<void>;
}

interface Closable {
  close(): Eventually<void>;
}

const PING_MS = 12_000;
// Longer than the minute for which a client may be too busy, or its connection too poor, to read.
const SILENCE_MS = 75_000;
const MAX_OPERATIONS_PER_SOCKET = 100;
// A person has a few devices with a few windows each.
const SOCKETS_PER_ACCOUNT = 128;
const SUBSCRIPTIONS_PER_ACCOUNT = 256;
// This limit applies until a first subscription proves the token: networks put many users behind
// one address.
const UNPROVED_PER_ADDRESS = 5_000;
// This counts sockets too; further connections are closed as soon as they are accepted.
const MAX_CONNECTIONS = 20_000;
// The events of an account may contain as many fields in a minute as so many of the largest answers.
const EVENT_ANSWERS_PER_MINUTE = 5;

export interface AppOptions {
  readonly log?: Log;
  /** Where `log` goes, for metrics and readiness. */
  readonly logOutput?: Pick<BufferedOutput, 'droppedLines' | 'degradedReason'>;
  /** When false, every request takes the general path, which is slower and answers alike. */
  readonly directPath?: boolean;
  /** The schema to serve in place of the whole one. */
  readonly schema?: GraphQLSchema;
  /** The maximum bytes of prepared documents and of cached catalog responses; a default where left out. */
  readonly cacheBytes?: { readonly documents?: number; readonly answers?: number };
  readonly connections?: ConnectionLimits;
  /** Plugins of envelop or yoga; docs/plugins.md says what they see. */
  readonly plugins?: readonly OtherPlugin[];
}

/** Limits that are the same for every installation; tests lower them. */
export interface ConnectionLimits {
  readonly most?: number;
  readonly unprovedPerAddress?: number;
  /** How long a reader may take no byte, and how long a response waits for its client's other readers. */
  readonly unreadMs?: number;
  readonly patienceMs?: number;
  /** The interval between two pings of a connection. */
  readonly pingMs?: number;
  /** The time within which a message has to arrive whole. */
  readonly unfinishedMs?: number;
}

/** The composition root: the one place that knows every layer and makes every lasting object. */
export async function startApp(
  config: Config,
  {
    log = createAppLog(config, openAppLogOutput(config)),
    logOutput,
    directPath = true,
    schema = buildSchema(),
    cacheBytes = {},
    connections = {},
    plugins = [],
  }: AppOptions = {},
): Promise<App> {
  const {
    most = MAX_CONNECTIONS,
    unprovedPerAddress = UNPROVED_PER_ADDRESS,
    pingMs = PING_MS,
    unfinishedMs,
    ...patience
  } = connections;
  // Disposal closes what was started where a later part cannot start.
  await using started = new AsyncDisposableStack();
  const sandbox = config.sandbox ? started.use(await startEmbeddedSandbox(config)) : null;
  const metrics = new Metrics();
  const memory = new MemoryWatch({ clock: systemClock, log });
  started.defer(() => memory.close());
  const tracing = await openConfiguredTracing(config, metrics, log);
  started.defer(() => tracing?.close());
  const gatewayUrl = sandbox?.url ?? config.gatewayUrl ?? '';
  const gateway = createGateway({
    url: gatewayUrl,
    connections: config.gatewayConnections,
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
    metrics: metrics.gateway,
    log,
    tracing,
  });
  started.defer(() => gateway.close());
  const documents = new Documents({
    schema,
    limits: config,
    introspection: config.introspection,
    reads: metrics.graph.cacheReads.document,
    ...(cacheBytes.documents && { maxBytes: cacheBytes.documents }),
  });
  const kept = async <T extends Closable | null>(opening: Promise<T>) => {
    const resource = await opening;
    started.defer(() => resource?.close());
    return resource;
  };
  // Everything that may prove unusable opens together, so that one start reports all problems.
  const fullest = new FullestAccounts(steadyClock);
  const [stores, trusted] = await openAll([
    kept(
      openConfiguredStores(config, {
        onAccountHeld: (login, held) => fullest.observe(login, held),
        onWarn: (message) => log.warn({}, message),
        onCounted: (ms) => metrics.store.counterSeconds.observe(ms / 1000),
        onRedisFailed: (kind) => metrics.store.redisErrors.add(kind),
      }),
    ),
    kept(
      openConfiguredDocuments(config, {
        documents,
        log,
        compiles: plugins.length === 0,
        onLoaded: (names) => metrics.server.listDocuments(names),
      }),
    ),
  ]).catch(withAddressProblems(config, 'public', 'admin'));
  const { counters } = stores;
  const records = measuredOrderRecords(stores.records, metrics.store);
  const { client, resilience, lastSequence } = gateway;
  const wrongSettings = new WrongSettings({ clock: steadyClock, log });
  const domain = createDomain({
    client,
    lastSequence,
    stores: { ...stores, records },
    metrics: metrics.domain,
    signs: wrongSettings,
    log,
    verify: await createVerifier(config),
    settings: config,
  });
  started.defer(() => domain.hub.close());
  const clients = new ClientKeys(domain.ledger);
  const responses = new ResponseCache(cacheBytes.answers, metrics.graph.cacheReads.response);
  const registered = new PersistedTexts();
  const costs = new CostQuota({ counters, fieldsPerMinute: config.costLimitPerMinute });
  const pace = new EventPace({
    fieldsPerMinute: EVENT_ANSWERS_PER_MINUTE * config.maxCost,
    clock: systemClock,
  });
  const graph = new Graph({
    schema,
    services: domain,
    clientOf: ({ caller }) => clients.of(caller),
    requests: { counters, perMinute: config.rateLimitPerMinute },
    subscriptions: { perAccount: SUBSCRIPTIONS_PER_ACCOUNT, perAddress: unprovedPerAddress },
    trusted: { trusted, registered, trustedOnly: config.persistedDocumentsOnly, log },
    documents,
    maxCost: config.maxCost,
    costs,
    scheduler: new FairScheduler(),
    pace,
    responses,
    codes: new ErrorCodes({ describe: publicCause, reasonOf, log, metrics: metrics.graph }),
    traces: tracing && { schema, isFault },
    receipts: config.sandbox,
    plugins,
    isMemoryShort: () => memory.isShort,
  });

  const addresses = new ClientAddresses({
    trustedProxies: config.trustedProxies,
    clock: systemClock,
    log,
  });
  const buffers = new SendBuffers({
    maxBytes: config.sendBufferMaxBytes,
    clients,
    clock: steadyClock,
    ...patience,
    onCut: (reason) => metrics.server.readersCut.add(reason),
  });
  const cuts = new CutLog({ log, clock: steadyClock });
  const received = new ReceiveBuffers({
    maxBytes: config.receiveBufferMaxBytes,
    clock: steadyClock,
    ...(unfinishedMs !== undefined && { unfinishedMs }),
    onCut: (reason) => {
      metrics.server.sendersCut.add(reason);
      cuts.add(reason);
    },
  });
  const budgets = new MessageBudgets({
    ratePerMinute: config.rateLimitPerMinute,
    clients,
    clock: steadyClock,
    onOver: () => metrics.graph.refusal('messages'),
  });
  const settings: ServerSettings = {
    graph,
    log,
    addresses,
    origins: config.corsOrigins,
    maxBodyBytes: config.maxBodyBytes,
    buffers,
    received,
    budgets,
    tokens: new BearerTokens(),
    requestIds: new RequestIds(),
    tracing,
    clientNames: new ClientNames(config.clientNames),
    accessLog: new AccessLog({
      log,
      sample: config.logSample,
      accountKey: config.logAccountKey,
      ledger: domain.ledger,
      random: Math.random,
      onEnded: (summary, end) => metrics.server.requestEnded(summary, end),
    }),
  };
  const readiness = new Readiness();
  readiness.watch('order-store', () => records.degradedReason());
  readiness.watch('redis', () => counters.degradedReason());
  readiness.watch('documents', () => trusted?.degradedReason() ?? null);
  readiness.watch('settings', () => wrongSettings.degradedReason());
  readiness.watch('settings', () => addresses.degradedReason());
  readiness.watch('gateway', () => resilience.degradedReason());
  readiness.watch('memory', () => memory.degradedReason());
  readiness.watch('log', () => logOutput?.degradedReason() ?? null);
  readiness.watch('catalog', () =>
    domain.catalogs.staleGroups.length > 0 ? 'a catalog is past its time' : null,
  );
  const webSockets = new WebSocketEndpoint({
    ...settings,
    clock: systemClock,
    pingMs,
    silenceMs: SILENCE_MS,
    maxOperations: MAX_OPERATIONS_PER_SOCKET,
    clients,
    onSocketClosed: (code) => metrics.server.socketClosed(code),
    isMemoryShort: () => memory.isShort,
    onMemoryShort: () => metrics.graph.refusal('memory'),
    onSocketRefused: () => metrics.graph.refusal('sockets'),
    limits: new SocketLimits({
      perAccount: SOCKETS_PER_ACCOUNT,
      perAddress: unprovedPerAddress,
    }),
  });
  const server = new HttpServer({
    ...settings,
    readiness,
    webSockets,
    graphiql: config.graphiql
      ? new GraphiQL({
          sandbox: sandbox && graphiqlUsers(client),
          introspection: config.introspection,
        })
      : null,
    demoPage: config.demoPage ? DemoPage.find() : null,
    sandbox: sandbox
      ? new SandboxProxy({
          gatewayUrl: sandbox.url,
          origins: config.corsOrigins,
          offersGateway: config.demoPage,
          onCatalogChange: () => domain.catalogs.expire(),
        })
      : null,
    maxConnections: most,
    corsHeaders: config.corsHeaders,
    directPath,
    pingMs,
    onGeneralPath: () => metrics.server.generalPath.add(),
    onAnswered: (status) => metrics.server.http.add(`${Math.floor(status / 100)}xx`),
    sdl: config.introspection ? printedSchema(schema) : null,
  });
  metrics.server.listClients(config.clientNames);
  metrics.server.sockets.from(() => webSockets.size);
  metrics.server.sendBufferBytes.from(() => buffers.bytes);
  metrics.server.receiveBufferBytes.from(() => received.bytes);
  const caches = {
    ...domain.caches,
    response: () => responses.byteSize,
    document: () => documents.byteSize,
    compiled_code: () => documents.compiledCode.byteSize,
    persisted_query: () => registered.byteSize,
    quota: () => counters.byteSize + costs.byteSize + pace.byteSize + budgets.byteSize,
  };
  for (const [name, byteSize] of Object.entries(caches)) {
    metrics.graph.cacheBytes.from(byteSize, name);
  }
  metrics.store.watch({
    records,
    fullest,
    forecast: new FillForecast(steadyClock, config.orderRecordsMax),
    max: config.orderRecordsMax,
    maxPerAccount: config.orderRecordsPerAccount,
  });
  const { redisIsUp } = stores;
  if (redisIsUp !== null) metrics.store.redisUp.from(() => (redisIsUp() ? 1 : 0));
  metrics.memoryHeldShare.from(() => memory.heldShare);
  metrics.logLinesDropped.from(() => logOutput?.droppedLines ?? 0);
  metrics.showReadiness(readiness);
  const build = programBuild(config);
  metrics.buildInfo.from(() => 1, build.version, build.revision, process.version);
  const admin = new AdminServer(metrics.registry, readiness, build);
  const adminPort = await atAddress(config, 'admin', (port, host) =>
    admin.listen(port, host),
  ).catch(withAddressProblems(config, 'public'));
  started.defer(() => admin.close());
  const port = await atAddress(config, 'public', (port, host) => server.listen(port, host));
  readiness.serving();
  const unwatchAddress = watchAddress({
    gatewayUrl,
    clock: steadyClock,
    onReachable: () => wrongSettings.reachable(),
    onUnreachable: (reason) => wrongSettings.unreachable(reason),
  });
  started.defer(unwatchAddress);
  const resources = started.move();

  return {
    build,
    url: addressOf(config.host, port),
    adminUrl: addressOf(config.adminHost, adminPort),
    sandbox,
    close: createShutdown({
      delayMs: config.shutdownDelayMs,
      graceMs: config.shutdownGraceMs,
      readiness,
      webSockets,
      server,
      orders: domain.orders,
      resources,
      log,
    }),
  };
}

export function createAppLog(config: Config, destination: LogDestination): Log {
  return createLog({ level: config.logLevel, format: formatOf(config), destination });
}

export function openAppLogOutput(config: Config): BufferedOutput {
  return openLogOutput(formatOf(config));
}

function formatOf({ sandbox }: Config): LogFormat {
  return sandbox ? 'compact' : 'json';
}

function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
