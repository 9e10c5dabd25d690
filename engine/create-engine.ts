import type { GraphQLSchema } from 'graphql';
import { steadyClock, systemClock } from '../lib/clock.ts';
import { FairScheduler } from '../lib/fair-scheduler.ts';
import type { Log } from '../lib/log.ts';
import { type CacheReads, Registry } from '../lib/metrics/registry.ts';
import type { Tracing } from '../lib/tracing/tracing.ts';
import type { AdmissionParts } from './admission/admission.ts';
import { createClientLimits } from './admission/client-limits.ts';
import { plainContext } from './admission/plain-context.ts';
import {
  createPersistedDocuments,
  type PersistedDocuments,
  type PersistedDocumentsOptions,
} from './documents/persisted-documents.ts';
import { createEventPace } from './execution/event-pace.ts';
import { createEventResults } from './execution/event-results.ts';
import { createExecution } from './execution/execution.ts';
import { createResponseCache, type ResponseCache } from './execution/response-cache.ts';
import { REQUEST_CODES } from './operation/codes.ts';
import { ErrorCodes, type ErrorCodesOptions } from './operation/error-codes.ts';
import type { EngineLimiter } from './operation/limits.ts';
import { createGraph, type Graph, type GraphParts } from './plugins/graph.ts';
import { openPlugins } from './plugins/open-plugins.ts';
import { Readiness } from './transports/admin/readiness.ts';
import { LastingConnections } from './transports/connections/closing-in-slices.ts';
import { messageBudget } from './transports/connections/message-budget.ts';
import { createReceiveBuffers } from './transports/connections/receive-buffers.ts';
import { createSendBuffers } from './transports/connections/send-buffers.ts';
import { createHttpServer, type HttpServerSettings } from './transports/http/http-server.ts';
import { type AccessLogOptions, createAccessLog } from './transports/requests/access-log.ts';
import { type AuthCookieOptions, createAuthCookie } from './transports/requests/auth-cookie.ts';
import { BearerTokens } from './transports/requests/bearer.ts';
import { createClientAddresses } from './transports/requests/client-address.ts';
import { createClientNames } from './transports/requests/client-names.ts';
import { createHeaderForwarding } from './transports/requests/forwarded-headers.ts';
import { createServerMetrics, type ServerMetrics } from './transports/requests/server-metrics.ts';
import type { ServerSettings } from './transports/requests/server-settings.ts';
import { createWebSocketEndpoint } from './transports/websocket/websocket-endpoint.ts';

const MAX_BYTES = 134_217_728;

/** The bounds of connections that are the same for every installation; tests lower them. */
export const CONNECTIONS = {
  /** Sockets among them. Further ones are closed as soon as they are accepted. */
  most: 20_000,
  /** The bytes that wait for readers, and those of messages and bodies that have not arrived whole. */
  unreadBytes: MAX_BYTES,
  unfinishedBytes: MAX_BYTES,
  /** How long a reader may take no byte, and how long a response waits for its client's other readers. */
  unreadMs: 30_000,
  patienceMs: 5_000,
  /** The time within which a message has to arrive whole. */
  unfinishedMs: 30_000,
  pingMs: 12_000,
  /** How long a connection without a request stays open while the service drains. */
  lingerMs: 300,
  /** The monotonic clock of all that is here and of what a client may send in a minute. */
  clock: steadyClock,
};

export type ConnectionBounds = Partial<typeof CONNECTIONS>;

/** The bounds of one operation, and of a client's operations in a minute. */
interface LimitOptions extends Pick<AdmissionParts, 'maxCost'> {
  readonly limiter: EngineLimiter;
  readonly maxBodyBytes: number;
}

type DocumentOptions = Pick<AdmissionParts, 'documents'> &
  Partial<Pick<PersistedDocumentsOptions, 'trusted' | 'trustedOnly'>>;

/** How operations are executed, and what of their answers is kept. */
interface ExecutionOptions
  extends Pick<GraphParts, 'createContext' | 'plugins'>,
    Pick<AdmissionParts, 'sizeOf' | 'isMemoryShort'>,
    Pick<ServerSettings, 'longestHeartbeatMs' | 'tokenEndOf'> {
  readonly cachedResponsesBytes: number;
  /** Has the long work of all clients go by turns. */
  readonly scheduler: FairScheduler;
  /** True when results report what they cost. */
  readonly receipts: boolean;
}

/** Tells whose a request is. */
interface CallerOptions extends Pick<ServerSettings, 'standingOf'> {
  readonly trustedProxies: readonly string[];
  readonly clientNames: readonly string[];
  /** Null where tokens come in headers alone. */
  readonly authCookie: AuthCookieOptions | null;
  /** Names in lower case; what is served of one set of their values is shared with nobody of another. */
  readonly forwardHeaders: readonly string[];
}

type HttpOptions = Pick<HttpServerSettings, 'sites' | 'sdl' | 'corsHeaders'> &
  Pick<ServerSettings, 'origins'>;

interface ObservationOptions
  extends Pick<AccessLogOptions, 'sample' | 'accountKey' | 'callsMember'> {
  readonly metrics: {
    readonly server: ServerMetrics;
    readonly graph: ErrorCodesOptions['metrics'] & {
      readonly cacheReads?: { readonly response: CacheReads };
    };
  };
  readonly tracing: Tracing | null;
  readonly readiness: Readiness;
}

/** The first four have no default. */
export interface EngineOptions {
  readonly schema: GraphQLSchema;
  readonly documents: DocumentOptions;
  readonly limits: LimitOptions;
  readonly log: Log;
  readonly errors?: Partial<Pick<ErrorCodesOptions, 'traits' | 'describe'>>;
  readonly execution?: Partial<ExecutionOptions>;
  readonly callers?: Partial<CallerOptions>;
  readonly http?: Partial<HttpOptions>;
  readonly connections?: ConnectionBounds;
  readonly observation?: Partial<ObservationOptions>;
}

/** Serves a schema over HTTP, event streams and WebSockets. Nothing listens yet. */
export function createEngine(given: EngineOptions) {
  const options = withDefaults(given);
  const { execution, http, observation, connections } = options;
  const { metrics, readiness } = observation;
  const { cachedResponsesBytes, isMemoryShort } = execution;
  const caches = {
    responses: createResponseCache(cachedResponsesBytes, metrics.graph.cacheReads?.response),
    persisted: createPersistedDocuments({ ...options.documents, log: options.log }),
  };
  const graph = graphOf(options, caches);
  const settings = settingsOf(options, graph);
  const webSockets = createWebSocketEndpoint(settings, isMemoryShort);
  const { most: maxConnections, lingerMs } = connections;
  const ofServer = { readiness, webSockets, lingerMs, maxConnections };
  const server = createHttpServer({ ...http, ...settings, ...ofServer });
  return { ...settings, ...caches, readiness, webSockets, server };
}

type Options = ReturnType<typeof withDefaults>;

function withDefaults({ schema, log, limits, ...given }: EngineOptions) {
  const execution: ExecutionOptions = {
    createContext: (_caller, operation) => plainContext(operation),
    plugins: given.execution?.plugins ?? openPlugins(schema, [], log),
    sizeOf: () => 100,
    isMemoryShort: () => false,
    longestHeartbeatMs: 60_000,
    tokenEndOf: () => null,
    cachedResponsesBytes: MAX_BYTES / 4,
    scheduler: new FairScheduler(),
    receipts: false,
    ...given.execution,
  };
  const observation: ObservationOptions = {
    // Metrics that nobody reads.
    metrics: given.observation?.metrics ?? {
      server: createServerMetrics(new Registry()),
      graph: { error() {}, refusal() {} },
    },
    readiness: given.observation?.readiness ?? new Readiness({}),
    ...OBSERVATION,
    ...given.observation,
  };
  return {
    schema,
    log,
    limits,
    execution,
    observation,
    documents: { ...DOCUMENTS, ...given.documents },
    errors: { ...ERRORS, ...given.errors },
    callers: { ...CALLERS, ...given.callers },
    http: { ...HTTP, ...given.http },
    connections: { ...CONNECTIONS, ...given.connections },
  };
}

const DOCUMENTS = { trusted: null, trustedOnly: 'off' } as const;
const OBSERVATION = { tracing: null, sample: 1, accountKey: null, callsMember: 'callsMs' };
const ERRORS: Pick<ErrorCodesOptions, 'traits' | 'describe'> = {
  traits: REQUEST_CODES,
  describe: () => ({ message: 'Something went wrong here.', extensions: { code: 'INTERNAL' } }),
};
const CALLERS: CallerOptions = {
  standingOf: () => undefined,
  trustedProxies: [],
  clientNames: [],
  authCookie: null,
  forwardHeaders: [],
};
const HTTP: HttpOptions = {
  origins: { origins: [], anyLocalhost: false },
  sites: [],
  sdl: null,
  corsHeaders: [],
};

function graphOf(
  { schema, log, limits: { limiter, maxCost }, execution, ...options }: Options,
  { responses, persisted }: { responses: ResponseCache; persisted: PersistedDocuments },
): Graph {
  const { documents } = options.documents;
  const { plugins, receipts, scheduler } = execution;
  const limits = createClientLimits({ limiter, schema });
  const metrics = options.observation.metrics.graph;
  const codes = new ErrorCodes({ ...options.errors, log, metrics });
  const pace = createEventPace(limiter, systemClock);
  const seesResults = plugins.hooks.length > 0;
  const shared = { limits, scheduler, maxCost, codes, receipts };
  return createGraph({
    ...execution,
    schema,
    codes,
    admission: { ...execution, ...shared, documents, persisted, keepsTree: seesResults },
    execution: createExecution({
      ...shared,
      responses,
      confirms: !seesResults,
      events: createEventResults({ ...shared, pace }),
    }),
  });
}

function settingsOf(
  { log, limits, execution, callers, http, observation, connections }: Options,
  graph: Graph,
): ServerSettings {
  const { server: metrics, graph: counts } = observation.metrics;
  const { clock, unreadBytes, unfinishedBytes } = connections;
  return {
    ...limits,
    ...execution,
    ...callers,
    ...http,
    ...observation,
    ...connections,
    graph,
    log,
    metrics,
    lasting: new LastingConnections(),
    refused: (limit) => counts.refusal(limit),
    addresses: createClientAddresses(callers.trustedProxies, log),
    buffers: createSendBuffers({
      ...connections,
      maxBytes: unreadBytes,
      onCut: (reason) => metrics.readersCut.add(reason),
    }),
    received: createReceiveBuffers({
      ...connections,
      maxBytes: unfinishedBytes,
      onCut: (reason) => metrics.sendersCut.add(reason),
    }),
    countMessage: messageBudget(limits.limiter),
    tokens: new BearerTokens(callers.authCookie && createAuthCookie(callers.authCookie)),
    forwarding: createHeaderForwarding(callers.forwardHeaders),
    clientNames: createClientNames(callers.clientNames),
    accessLog: createAccessLog({ ...observation, log, clock, metrics }),
  };
}
