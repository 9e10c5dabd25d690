import { createAdminServer } from './app/admin-server.ts';
import {
  type AppOptions,
  programVersion,
  sandboxSettings,
  withDefaults,
} from './app/app-options.ts';
import { GraphContext } from './app/graph-context.ts';
import { MemoryWatch } from './app/memory-watch.ts';
import { Metrics } from './app/metrics.ts';
import { shutDown } from './app/shutdown.ts';
import { openFiles, usable } from './app/usable.ts';
import type { Config } from './config.ts';
import { expiryOf } from './domain/auth/claims.ts';
import { TokenEndedError } from './domain/auth/token-errors.ts';
import { TRADING_LIMITS } from './domain/auth/trading-limits.ts';
import { createVerifier } from './domain/auth/verifier.ts';
import { createDomain } from './domain/create-domain.ts';
import { createEngine, Documents, ENGINE_LIMITS, type Site } from './engine/index.ts';
import { OPERATIONS } from './gateway/operations.ts';
import { Origin } from './gateway/origin.ts';
import { openServices } from './gateway/services.ts';
import { gatewayWidths } from './gateway/transport.ts';
import { FrontPage } from './graphiql/server/front-page.ts';
import { GraphiQL } from './graphiql/server/graphiql.ts';
import { LogicalClock, steadyClock, systemClock } from './lib/clock.ts';
import { Turns } from './lib/event-loop-turns.ts';
import { fireAndForget, onBackgroundFailure } from './lib/fire-and-forget.ts';
import { limitsOf } from './lib/limits/limit.ts';
import { Limiter } from './lib/limits/limiter.ts';
import { listen } from './lib/listen.ts';
import type { Log } from './lib/log.ts';
import { Readiness } from './lib/readiness.ts';
import { RepeatedErrors } from './lib/repeated-errors.ts';
import type { sandboxSites } from './sandbox/page/sites.ts';
import type { Sandbox } from './sandbox/start.ts';
import { catalogSize } from './schema/builder.ts';
import { publicCause } from './schema/public-cause.ts';
import { printedSchema } from './schema/schema.ts';
import { datesOf } from './store/dates.ts';

const DOCUMENT_LIMITS = { maxAliases: 30, maxDirectives: 20, maxTokens: 4_000 };
const WITHOUT_REPLICAS =
  'REDIS_REPLICAS is unset: set it to 1 or more, so that a primary that was cut off takes no order';
const WITHOUT_KEYS =
  'JWT_JWKS_URL and JWT_SECRET are unset: while an address sends forged tokens, new users at that address may wait';

export type App = Awaited<ReturnType<typeof startApp>>;

/**
 * The composition root: creates every lasting object of the process, in the order of their dependencies. Throws a
 * ConfigError if a store, a manifest or an address cannot be used.
 */
export async function startApp(config: Config, given: AppOptions) {
  const options = withDefaults(config, given);
  const { log, schema, cacheBytes } = options;
  // Closes everything in reverse order, even if a later part cannot start.
  await using opened = new AsyncDisposableStack();

  const metrics = new Metrics();
  metrics.countProcess();
  opened.defer(logBackgroundFailures(log));
  const memory = opened.use(new MemoryWatch());
  const sandbox = config.sandbox ? opened.use(await startSandbox(config)) : null;
  const tracing = config.tracing ? opened.use(await openTracing(log)) : null;

  const logicalClock = new LogicalClock();
  const originOptions = { ...config, logicalClock, metrics: metrics.gateway, log, tracing };
  const gateway = new Origin({
    ...originOptions,
    url: sandbox?.url ?? config.gatewayUrl ?? '',
    operations: OPERATIONS,
    widths: gatewayWidths(config.gatewayConnections),
    onRecovered: (area) => {
      if (area === 'reads') domain.resumePolls();
    },
  });
  opened.defer(() => gateway.close());
  const otherServices = openServices(originOptions, config);
  for (const each of Object.values<Origin>(otherServices)) opened.defer(() => each.close());
  const { clockSkew } = gateway;
  const dates = () => datesOf(systemClock.date(), clockSkew);
  metrics.gateway.watchClock(clockSkew);

  const documents = new Documents({
    schema,
    limits: { ...DOCUMENT_LIMITS, maxDepth: config.maxDepth },
    introspection: config.graphiql,
    maxBytes: cacheBytes.documents,
  });
  const storeObserver = {
    onWarn: (message: string, fields: object = {}) => log.warn(fields, message),
    dates,
  };
  const { trusted, stores } = await openFiles(config, opened, { documents, log }, storeObserver);
  const { records } = stores;

  const limits = { ...limitsOf(ENGINE_LIMITS, config), ...limitsOf(TRADING_LIMITS, config) };
  const limiter = new Limiter(
    { ...limits, ...options.limits },
    steadyClock,
    stores.replicas?.share,
  );
  const verifier = await createVerifier({ ...config, log });
  if (verifier !== null) opened.use(verifier);
  // With a key the service refuses a forged token by its signature, without calling the gateway.
  if (verifier === null && sandbox === null) log.info({}, WITHOUT_KEYS);
  const isInProduction = config.requiresAppendonly && config.redisUrl !== null;
  if (isInProduction && config.redisReplicas === null) log.info({}, WITHOUT_REPLICAS);

  const domain = createDomain({
    client: gateway.client,
    logicalClock,
    clockSkew,
    dates,
    stores,
    limiter,
    metrics: metrics.domain,
    log,
    verify: verifier?.verify ?? null,
    cacheBytes,
    settings: config,
  });
  const services = { ...domain, ...otherServices };
  const stopping = new AbortController();
  opened.defer(() => stopping.abort());
  fireAndForget('order record', domain.orders.watchCutOffs(stopping.signal));
  opened.defer(() => domain.openPositions.close());
  opened.defer(() => domain.ownLists.close());

  const readiness = new Readiness({
    gateway: () => gateway.degradedReason(),
    'order-store': () => records.status.degradedReason,
    'orders-held': () => records.status.holdReason,
    clock: () => clockSkew.degradedReason(),
    redis: () => stores.replicas?.degradedReason() ?? null,
    memory: () => memory.degradedReason(),
    keys: () => verifier?.degradedReason() ?? null,
  });
  // Never in production: a local proxy without forwarding headers would open the sandbox's controls to every client.
  const demo =
    sandbox !== null && config.demoPage
      ? (await import('./sandbox/page/sites.ts')).sandboxSites({
          gatewayUrl: sandbox.url,
          origins: config.corsOrigins,
          // The page links to GraphiQL.
          withPage: config.graphiql,
        })
      : null;
  const { authCookie, gatewayForwardHeaders: forwardHeaders, publicPath } = config;
  const engine = createEngine({
    ...config,
    ...options,
    documents,
    trusted,
    limiter,
    turns: new Turns(),
    tracing,
    metrics: metrics.server,
    errorMetrics: metrics.graph,
    readiness,
    describe: publicCause,
    createContext: (operation) => new GraphContext(services, operation),
    sizeOf: () => catalogSize(domain.catalogs),
    dateMs: () => dates().judgedMs,
    tokenStatusOf: (token) => (token === null ? undefined : domain.ledger.tokenStatus(token)),
    tokenEndOf: (error) => (error instanceof TokenEndedError ? error.code : null),
    watchToken: (token, ended) => domain.tokenEnds.watch(token, ended),
    receipts: config.sandbox,
    forwardHeaders,
    origins: config.corsOrigins,
    authCookie: authCookie === null ? null : { name: authCookie, expiryOf, publicPath },
    sites: sitesOf(config, sandbox, demo),
    sdl: config.graphiql ? printedSchema(schema) : null,
  });

  const build = { version: programVersion(), revision: config.revision };
  metrics.watch({
    build,
    engine,
    records,
    recordsMax: config.orderRecordsMax,
    memory,
    trusted,
    logOutput: options.logOutput,
    caches: {
      ...domain.caches,
      document: () => documents.byteSize,
      quota: () => limiter.byteSize,
    },
  });

  // Both ports listen last, because only now all parts exist that answer their clients.
  const admin = createAdminServer(metrics.registry, readiness, build);
  const adminPort = await usable(
    listen(admin, config.adminPort, config.adminHost),
    ['ADMIN_PORT', config.adminPort],
    ['ADMIN_HOST', config.adminHost],
  );
  opened.defer(() => {
    admin.close();
    admin.closeAllConnections();
  });
  const port = await usable(
    engine.server.listen(config.port, config.host),
    ['PORT', config.port],
    ['HOST', config.host],
  );
  readiness.phase = 'serving';

  const running = { log, engine, orders: domain.orders, opened: opened.move() };
  return {
    build,
    sandbox,
    hasDemoPage: demo?.hasPage ?? false,
    url: addressOf(config.host, port),
    adminUrl: addressOf(config.adminHost, adminPort),
    close: () => shutDown(config, running),
  };
}

async function startSandbox(config: Config) {
  const sandbox = await import('./sandbox/start.ts');
  return sandbox.startSandbox(sandboxSettings(config));
}

/** Loads OpenTelemetry's packages, which take 30 MB of memory, only if tracing is on. */
async function openTracing(log: Log) {
  const { Tracing } = await import('./lib/tracing/tracing.ts');
  return new Tracing(log, programVersion());
}

/** Logs failures in the background, once a minute for each task. Returns a function that stops the logging. */
function logBackgroundFailures(log: Log): () => void {
  const repeated = new RepeatedErrors(steadyClock.now);
  return onBackgroundFailure(({ task, error }) => {
    const repeats = repeated.next(task);
    if (repeats !== null) log.error({ task, err: error, ...repeats }, 'background work failed');
  });
}

function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return reachable.includes(':') ? `http://[${reachable}]:${port}` : `http://${reachable}:${port}`;
}

type Demo = ReturnType<typeof sandboxSites>;

/** The pages that the HTTP server serves in addition to GraphQL. `demo` is null if the sandbox's pages are not served. */
function sitesOf(config: Config, sandbox: Sandbox | null, demo: Demo | null): readonly Site[] {
  const { authCookie, graphiql: hasGraphiql, publicPath } = config;
  const frontPage = new FrontPage({ publicPath, hasGraphiql });
  const sites = demo?.sites ?? [];
  if (!hasGraphiql) return [...sites, frontPage];
  const graphiql = new GraphiQL({
    publicPath,
    sandbox,
    hasAuthCookie: authCookie !== null,
    hasPage: demo?.hasPage ?? false,
  });
  return [...sites, graphiql, frontPage];
}
