import type { GraphQLSchema } from 'graphql';
import { steadyClock, systemClock } from '../lib/clock.ts';
import { FairScheduler } from '../lib/fair-scheduler.ts';
import type { Log } from '../lib/log.ts';
import { type CacheReads, Registry } from '../lib/metrics/registry.ts';
import { onFirstUse } from '../lib/on-first-use.ts';
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
import { ReceiveBuffers } from './transports/connections/receive-buffers.ts';
import { createSendBuffers } from './transports/connections/send-buffers.ts';
import { createHttpServer, type HttpServerSettings } from './transports/http/http-server.ts';
import { type AccessLogOptions, createAccessLog } from './transports/requests/access-log.ts';
import { AuthCookie, type AuthCookieOptions } from './transports/requests/auth-cookie.ts';
import { BearerTokens } from './transports/requests/bearer.ts';
import { createClientAddresses } from './transports/requests/client-address.ts';
import { createClientNames } from './transports/requests/client-names.ts';
import { HeaderForwarding } from './transports/requests/forwarded-headers.ts';
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
  /** The interval between two pings of a connection. */
  pingMs: 12_000,
  /** How long a connection without a request stays open while the service drains. */
  lingerMs: 300,
  /** The monotonic clock of all that is here and of what a client may send in a minute. */
  clock: steadyClock,
};

export interface ConnectionBounds extends Partial<typeof CONNECTIONS> {
  /** How long a reader may take no byte, and how long a response waits for its client's other readers. */
  readonly unreadMs?: number;
  readonly patienceMs?: number;
  /** The time within which a message has to arrive whole. */
  readonly unfinishedMs?: number;
}

interface Metrics {
  readonly server: ServerMetrics;
  readonly graph: ErrorCodesOptions['metrics'] & {
    readonly cacheReads?: { readonly response: CacheReads };
  };
}

/** What has no default: the schema, and how much of it a client may ask for. */
interface Required extends Pick<AdmissionParts, 'documents' | 'maxCost'> {
  readonly schema: GraphQLSchema;
  readonly limiter: EngineLimiter;
  readonly maxBodyBytes: number;
  readonly log: Log;
}

interface Optional
  extends Pick<GraphParts, 'createContext' | 'plugins'>,
    Pick<ErrorCodesOptions, 'traits' | 'describe'>,
    Pick<AdmissionParts, 'sizeOf' | 'isMemoryShort'>,
    Pick<PersistedDocumentsOptions, 'trusted' | 'trustedOnly'>,
    Pick<AccessLogOptions, 'sample' | 'accountKey' | 'callsMember'>,
    Pick<ServerSettings, 'origins' | 'longestHeartbeatMs' | 'standingOf' | 'tokenEndOf'>,
    Pick<HttpServerSettings, 'sites' | 'sdl' | 'corsHeaders' | 'directPath'> {
  readonly metrics: Metrics;
  readonly tracing: Tracing | null;
  readonly readiness: Readiness;
  readonly connections: ConnectionBounds;
  readonly trustedProxies: readonly string[];
  readonly clientNames: readonly string[];
  /** Null where tokens come in headers alone. */
  readonly authCookie: AuthCookieOptions | null;
  /** Names in lower case; what is served of one set of their values is shared with nobody of another. */
  readonly forwardHeaders: readonly string[];
  readonly cachedResponsesBytes: number;
  /** True when results report what they cost. */
  readonly receipts: boolean;
}

export interface EngineOptions extends Required, Partial<Optional> {}

/** Serves a schema over HTTP, event streams and WebSockets. Nothing listens yet. */
export function createEngine(given: EngineOptions) {
  const options = {
    ...DEFAULTS,
    plugins: given.plugins ?? openPlugins(given.schema, [], given.log),
    // Metrics that nobody reads.
    metrics: given.metrics ?? {
      server: createServerMetrics(new Registry()),
      graph: { error() {}, refusal() {} },
    },
    readiness: given.readiness ?? new Readiness({}),
    ...given,
  };
  const { most, lingerMs } = { ...CONNECTIONS, ...options.connections };
  const caches = {
    responses: createResponseCache(
      options.cachedResponsesBytes,
      options.metrics.graph.cacheReads?.response,
    ),
    persisted: createPersistedDocuments(options),
  };
  const graph = graphOf(options, caches);
  // Loaded with its first request, which few clients send: it is a quarter of a start. That holds the event loop once, from
  // a bundle for some 50 ms, from the sources for 200.
  const yoga = onFirstUse(async () =>
    (await import('./transports/http/yoga.ts')).createYogaHandler(graph),
  );
  const settings = settingsOf(options, graph);
  const webSockets = createWebSocketEndpoint(settings, options.isMemoryShort);
  const server = createHttpServer({
    ...options,
    ...settings,
    ...{ webSockets, yoga, lingerMs, maxConnections: most },
  });
  return { ...settings, ...caches, readiness: options.readiness, webSockets, server, yoga };
}

const DEFAULTS: Omit<Optional, 'plugins' | 'metrics' | 'readiness'> = {
  createContext: (_caller, operation) => plainContext(operation),
  traits: REQUEST_CODES,
  describe: () => ({ message: 'Something went wrong here.', extensions: { code: 'INTERNAL' } }),
  sizeOf: () => 100,
  isMemoryShort: () => false,
  standingOf: () => undefined,
  ...{ trusted: null, trustedOnly: 'off' },
  ...{ sample: 1, accountKey: null, callsMember: 'callsMs' },
  origins: { origins: [], anyLocalhost: false },
  longestHeartbeatMs: 60_000,
  tokenEndOf: () => null,
  ...{ sites: [], sdl: null, corsHeaders: [], directPath: true },
  tracing: null,
  connections: {},
  ...{ trustedProxies: [], clientNames: [] },
  authCookie: null,
  forwardHeaders: [],
  cachedResponsesBytes: MAX_BYTES / 4,
  receipts: false,
};

function graphOf(
  options: Required & Optional,
  { responses, persisted }: { responses: ResponseCache; persisted: PersistedDocuments },
): Graph {
  const { limiter, metrics, plugins, maxCost, receipts } = options;
  const limits = createClientLimits(options);
  const codes = new ErrorCodes({ ...options, metrics: metrics.graph });
  const scheduler = new FairScheduler();
  const pace = createEventPace(limiter, systemClock);
  const seesResults = plugins.hooks.length > 0;
  return createGraph({
    ...options,
    codes,
    admission: { ...options, limits, scheduler, persisted, keepsTree: seesResults },
    execution: createExecution({
      ...{ responses, limits, scheduler, codes, receipts },
      confirms: !seesResults,
      events: createEventResults({ codes, scheduler, pace, maxCost, receipts }),
    }),
  });
}

/** Makes the settings that all transports share. */
function settingsOf(options: Required & Optional, graph: Graph): ServerSettings {
  const { log, limiter } = options;
  const { server: metrics, graph: counts } = options.metrics;
  const bounds = { ...CONNECTIONS, ...options.connections };
  return {
    ...options,
    ...bounds,
    graph,
    metrics,
    lasting: new LastingConnections(),
    refused: (limit) => counts.refusal(limit),
    addresses: createClientAddresses(options.trustedProxies, log),
    buffers: createSendBuffers({
      ...bounds,
      maxBytes: bounds.unreadBytes,
      onCut: (reason) => metrics.readersCut.add(reason),
    }),
    received: new ReceiveBuffers({
      ...bounds,
      maxBytes: bounds.unfinishedBytes,
      onCut: (reason) => metrics.sendersCut.add(reason),
    }),
    countMessage: messageBudget(limiter),
    tokens: new BearerTokens(options.authCookie && new AuthCookie(options.authCookie)),
    forwarding: new HeaderForwarding(options.forwardHeaders),
    clientNames: createClientNames(options.clientNames),
    accessLog: createAccessLog({ ...options, clock: bounds.clock, metrics }),
  };
}
