import type { GraphQLSchema } from 'graphql';
import { FairScheduler } from '../lib/fair-scheduler.ts';
import { createHeaderForwarding } from '../lib/forwarded-headers.ts';
import type { Log } from '../lib/log.ts';
import { type CacheReads, Registry } from '../lib/metrics/registry.ts';
import type { AdmissionParts } from './admission/admission.ts';
import { ClientLimits } from './admission/client-limits.ts';
import { plainContext } from './admission/plain-context.ts';
import {
  createPersistedDocuments,
  type PersistedDocuments,
  type PersistedDocumentsOptions,
} from './documents/persisted-documents.ts';
import { createEventResults } from './execution/event-results.ts';
import { createExecution } from './execution/execution.ts';
import { createResponseCache, type ResponseCache } from './execution/response-cache.ts';
import { REQUEST_CODES } from './operation/codes.ts';
import { createErrorCodes, type ErrorCodesOptions } from './operation/error-codes.ts';
import type { EngineLimiter } from './operation/limits.ts';
import { createPipeline, type Pipeline, type PipelineParts } from './pipeline.ts';
import { Readiness } from './transports/admin/readiness.ts';
import {
  CONNECTIONS,
  type ConnectionBounds,
  MAX_BYTES,
} from './transports/connections/connection-bounds.ts';
import { LongLivedConnections } from './transports/connections/long-lived-connections.ts';
import { messageBudget } from './transports/connections/message-budget.ts';
import { OpenConnections } from './transports/connections/open-connections.ts';
import { createHttpServer, type HttpServerSettings } from './transports/http/http-server.ts';
import { type AccessLogOptions, createAccessLog } from './transports/requests/access-log.ts';
import { type AuthCookieOptions, createAuthCookie } from './transports/requests/auth-cookie.ts';
import { BearerTokens } from './transports/requests/bearer.ts';
import { createClientAddresses } from './transports/requests/client-address.ts';
import { ClientNames } from './transports/requests/client-names.ts';
import { createServerMetrics, type ServerMetrics } from './transports/requests/server-metrics.ts';
import type { ServerSettings } from './transports/requests/server-settings.ts';
import { createWebSocketEndpoint } from './transports/websocket/websocket-endpoint.ts';

/** The options that have no default. */
interface NeededOptions extends Pick<AdmissionParts, 'documents' | 'maxCost'> {
  readonly schema: GraphQLSchema;
  readonly log: Log;
  readonly limiter: EngineLimiter;
  readonly maxBodyBytes: number;
}

/** The rest, of which each has a default. */
interface MoreOptions
  extends Pick<PersistedDocumentsOptions, 'trusted' | 'trustedOnly'>,
    Pick<ErrorCodesOptions, 'traits' | 'describe'>,
    Pick<PipelineParts, 'createContext' | 'plugins'>,
    Pick<AdmissionParts, 'sizeOf'>,
    Pick<HttpServerSettings, 'sites' | 'sdl' | 'corsHeaders' | 'readiness' | 'publicPath'>,
    Pick<AccessLogOptions, 'sample' | 'accountKey' | 'callsMember'>,
    Pick<ServerSettings, 'tokenEndOf' | 'standingOf' | 'origins' | 'tracing'> {
  readonly cachedResponsesBytes: number;
  /** Has the long work of all clients go by turns. */
  readonly scheduler: FairScheduler;
  /** True when results report what they cost. */
  readonly receipts: boolean;
  readonly trustedProxies: readonly string[];
  /** Null where tokens come in headers alone. */
  readonly authCookie: AuthCookieOptions | null;
  /** Names in lower case; what is served of one set of their values is shared with nobody of another. */
  readonly forwardHeaders: readonly string[];
  readonly metrics: {
    readonly server: ServerMetrics;
    readonly graph: ErrorCodesOptions['metrics'] & {
      readonly cacheReads?: { readonly response: CacheReads };
    };
  };
}

export type EngineOptions = NeededOptions &
  Partial<MoreOptions> & { readonly connections?: ConnectionBounds };

export type Engine = ReturnType<typeof createEngine>;

/** Serves a schema over HTTP, event streams and WebSockets. Nothing listens yet. */
export function createEngine(given: EngineOptions) {
  const options = withDefaults(given);
  const { metrics, readiness, cachedResponsesBytes, connections } = options;
  const caches = {
    responses: createResponseCache(cachedResponsesBytes, metrics.graph.cacheReads?.response),
    persisted: createPersistedDocuments(options),
  };
  const settings = settingsOf(options, pipelineOf(options, caches));
  const webSockets = createWebSocketEndpoint(settings);
  const { most: maxConnections, lingerMs } = connections;
  const ofServer = { readiness, webSockets, lingerMs, maxConnections };
  const server = createHttpServer({ ...options, ...settings, ...ofServer });
  return { ...settings, ...caches, readiness, webSockets, server };
}

type Options = ReturnType<typeof withDefaults>;

function withDefaults(given: EngineOptions) {
  const defaults: MoreOptions = {
    plugins: [],
    trusted: null,
    trustedOnly: 'off',
    traits: REQUEST_CODES,
    describe: () => ({ message: 'Something went wrong here.', extensions: { code: 'INTERNAL' } }),
    createContext: (_caller, operation) => plainContext(operation),
    sizeOf: () => 100,
    tokenEndOf: () => null,
    cachedResponsesBytes: MAX_BYTES / 4,
    scheduler: new FairScheduler(),
    receipts: false,
    standingOf: () => undefined,
    trustedProxies: [],
    authCookie: null,
    forwardHeaders: [],
    origins: { origins: [], anyLocalhost: false },
    sites: [],
    sdl: null,
    corsHeaders: [],
    publicPath: '',
    // Metrics that nobody reads.
    metrics: given.metrics ?? {
      server: createServerMetrics(new Registry()),
      graph: { error() {}, refusal() {} },
    },
    readiness: new Readiness({}),
    tracing: null,
    sample: 1,
    accountKey: null,
    callsMember: 'callsMs',
  };
  return { ...defaults, ...given, connections: { ...CONNECTIONS, ...given.connections } };
}

function pipelineOf(
  options: Options,
  { responses, persisted }: { responses: ResponseCache; persisted: PersistedDocuments },
): Pipeline {
  const { plugins, limiter, metrics } = options;
  const limits = new ClientLimits(limiter);
  const codes = createErrorCodes({ ...options, metrics: metrics.graph });
  const hasPlugins = plugins.length > 0;
  const shared = { ...options, limits, codes };
  return createPipeline({
    ...shared,
    admission: { ...shared, persisted, keepsTree: hasPlugins },
    execution: createExecution({
      ...shared,
      responses,
      confirms: !hasPlugins,
      events: createEventResults(shared),
    }),
  });
}

function settingsOf(options: Options, graph: Pipeline): ServerSettings {
  const { log, connections, limiter, authCookie } = options;
  const { server: metrics, graph: counts } = options.metrics;
  const { clock } = connections;
  return {
    ...options,
    ...connections,
    graph,
    metrics,
    lasting: new LongLivedConnections(),
    refused: (limit) => counts.refusal(limit),
    addresses: createClientAddresses(options.trustedProxies, log),
    openConnections: new OpenConnections({
      ...connections,
      onCut: (reason) => metrics.connectionsCut.add(reason),
    }),
    countMessage: messageBudget(limiter),
    tokens: new BearerTokens(authCookie && createAuthCookie(authCookie)),
    forwarding: createHeaderForwarding(options.forwardHeaders),
    clientNames: new ClientNames(),
    accessLog: createAccessLog({ ...options, clock, metrics }),
  };
}
