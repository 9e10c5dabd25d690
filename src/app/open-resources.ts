import type { Config } from '../config.ts';
import { TRADING_LIMITS } from '../domain/auth/limits.ts';
import { createVerifier } from '../domain/auth/verifier.ts';
import { createDomain } from '../domain/create-domain.ts';
import { createExecutors, Documents, ENGINE_LIMITS } from '../engine/index.ts';
import { Gateway } from '../gateway/gateway.ts';
import { LogicalClock, steadyClock } from '../lib/clock.ts';
import { FairScheduler } from '../lib/fair-scheduler.ts';
import { fireAndForget, onBackgroundFailure } from '../lib/fire-and-forget.ts';
import { limitsOf } from '../lib/limits/limit.ts';
import { Limiter } from '../lib/limits/limiter.ts';
import { MemoryWatch } from '../lib/memory-watch.ts';
import { createRepeatedErrors } from '../lib/repeated-errors.ts';
import { measuredOrderRecords } from '../store/measured-order-records.ts';
import type { StoreOptions } from '../store/open-stores.ts';
import type { StartOptions } from './app-options.ts';
import { sandboxSettings } from './embedded-sandbox.ts';
import { Metrics } from './metrics.ts';
import { programVersion } from './program-version.ts';
import { openConfiguredDocuments, openConfiguredStores } from './resources.ts';

const WITHOUT_KEYS =
  'neither JWT_JWKS_URL nor JWT_SECRET is set: while forged tokens come from an address that many share, who comes there with a new token waits for a turn';

const DOCUMENT_LIMITS = { maxAliases: 30, maxDirectives: 20, maxTokens: 4_000 };

export type Resources = Awaited<ReturnType<typeof openResources>>;

/** Opens what has to be closed, up to the domain; `started` closes it in the reverse order of use. */
export async function openResources(
  config: Config,
  options: StartOptions,
  started: AsyncDisposableStack,
) {
  const { log, schema, cacheBytes, heartbeatMs } = options;
  if (config.sandbox && !options.sandbox)
    throw new Error('without GATEWAY_URL, hand in `sandbox: embeddedSandbox`');
  const running = config.sandbox && (await options.sandbox?.start(sandboxSettings(config)));
  const sandbox = running ? started.use(running) : null;
  const metrics = new Metrics();
  metrics.registry.countProcess();
  const repeated = createRepeatedErrors(steadyClock.now);
  const forget = onBackgroundFailure(({ task, error }) => {
    metrics.backgroundFailures.add(task);
    const told = repeated(task);
    if (told !== null) log.error({ task, err: error, ...told }, 'background work failed');
  });
  started.defer(forget);
  const memory = started.adopt(new MemoryWatch(log), (each) => each.close());
  // OpenTelemetry's packages, 30 MB in memory, are loaded only where it is on.
  const sdk = config.tracing ? await import('../lib/tracing/sdk-tracing.ts') : null;
  const tracing =
    sdk &&
    new sdk.SdkTracing({
      version: programVersion(),
      log,
      onDropped: (reason, spans) => metrics.spansDropped.register(reason).add(spans),
    });
  started.defer(() => tracing?.close());
  const logicalClock = new LogicalClock();
  const gatewayUrl = sandbox?.url ?? config.gatewayUrl ?? '';
  const origin = { ...config, logicalClock, metrics: metrics.gateway, log, tracing };
  const gateway = new Gateway({ ...origin, url: gatewayUrl });
  started.defer(() => gateway.close());
  const documents = new Documents({
    schema,
    limits: { ...DOCUMENT_LIMITS, maxDepth: config.maxDepth },
    introspection: config.graphiql,
    executors: createExecutors(schema),
    reads: metrics.graph.cacheReads.document,
    maxBytes: cacheBytes.documents,
  });
  const parts = { metrics, documents, gatewaySkewMs: () => gateway.clockSkew.ms };
  const { stores, trusted } = await openState(config, options, parts, started);
  const limits = { ...limitsOf(ENGINE_LIMITS, config), ...limitsOf(TRADING_LIMITS, config) };
  const table = { ...limits, ...options.limits };
  const limiter = new Limiter(table, steadyClock, stores.replicas?.share);
  const verify = await createVerifier({ ...config, log });
  // A signature tells a forged token apart without the gateway.
  if (verify === null && sandbox === null) log.info({}, WITHOUT_KEYS);
  const domain = createDomain({
    client: gateway.client,
    logicalClock,
    clockSkew: gateway.clockSkew,
    stores,
    limiter,
    metrics: metrics.domain,
    log,
    verify,
    cacheBytes,
    settings: config,
    heartbeatMs,
  });
  const stopping = new AbortController();
  started.defer(() => stopping.abort());
  fireAndForget('order record', domain.watchCutOffs(stopping.signal));
  gateway.onReadsRecovered(domain.resumePolls);
  started.defer(() => domain.feeds.close());
  return {
    sandbox,
    metrics,
    memory,
    gateway,
    tracing,
    documents,
    stores,
    trusted,
    limiter,
    turns: new FairScheduler(),
    domain,
  };
}

/** The order records come last: to verify their file takes long. */
async function openState(
  config: Config,
  { log }: StartOptions,
  {
    metrics,
    documents,
    gatewaySkewMs,
  }: Pick<StoreOptions, 'gatewaySkewMs'> & {
    readonly metrics: Metrics;
    readonly documents: Documents;
  },
  started: AsyncDisposableStack,
) {
  const trusted = await openConfiguredDocuments(config, {
    documents,
    log,
    onLoaded: (names) => metrics.server.listDocuments(names),
  });
  started.defer(() => trusted?.close());
  const stores = await openConfiguredStores(config, {
    onWarn: (message, fields = {}) => log.warn(fields, message),
    gatewaySkewMs,
  });
  started.defer(() => stores.close());
  const records = measuredOrderRecords(stores.records, metrics.store);
  return { stores: { ...stores, records }, trusted };
}
