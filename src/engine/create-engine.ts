import { createHeaderForwarding } from '../lib/forwarded-headers.ts';
import type { Log } from '../lib/log.ts';
import type { AdmissionParts } from './admission/admission.ts';
import { ClientLimits } from './admission/client-limits.ts';
import { EventResults } from './execution/event-results.ts';
import { Execution } from './execution/execution.ts';
import { ResponseCache } from './execution/response-cache.ts';
import { ErrorCodes, type ErrorCodesOptions } from './operation/error-codes.ts';
import type { EngineLimiter, LimitLabel } from './operation/limits.ts';
import { Pipeline, type PipelineParts } from './pipeline/pipeline.ts';
import { MessageBudget } from './transports/connections/message-budget.ts';
import { OpenConnections } from './transports/connections/open-connections.ts';
import { HttpServer, type HttpServerSettings } from './transports/http/http-server.ts';
import { AccessLog, type AccessLogOptions } from './transports/requests/access-log.ts';
import { type AuthCookieOptions, createAuthCookie } from './transports/requests/auth-cookie.ts';
import { ClientAddresses } from './transports/requests/client-address.ts';
import type { ServerMetrics } from './transports/requests/server-metrics.ts';
import type { ServerSettings } from './transports/requests/server-settings.ts';
import { WebSocketEndpoint } from './transports/websocket/websocket-endpoint.ts';

export interface EngineOptions
  extends Pick<AdmissionParts, 'documents' | 'trusted' | 'maxCost' | 'sizeOf' | 'scheduler'>,
    Pick<ErrorCodesOptions, 'describe'>,
    Pick<PipelineParts, 'schema' | 'createContext' | 'plugins'>,
    Pick<HttpServerSettings, 'sites' | 'sdl' | 'corsHeaders' | 'readiness' | 'publicPath'>,
    Pick<AccessLogOptions, 'sample' | 'accountKey'>,
    Pick<
      ServerSettings,
      'tokenEndOf' | 'standingOf' | 'origins' | 'tracing' | 'maxBodyBytes' | 'connections'
    > {
  readonly log: Log;
  readonly limiter: EngineLimiter;
  readonly cachedResponsesBytes: number;
  /** Whether results report their costs. */
  readonly receipts: boolean;
  readonly trustedProxies: readonly string[];
  /** Null if tokens are sent in headers alone. */
  readonly authCookie: AuthCookieOptions | null;
  /** Names in lower case. Nothing is shared between requests with different values of these headers. */
  readonly forwardHeaders: readonly string[];
  readonly metrics: {
    readonly server: ServerMetrics;
    readonly graph: ErrorCodesOptions['metrics'];
  };
}

export type Engine = ReturnType<typeof createEngine>;

/** Serves a schema over HTTP, event streams and WebSockets. It does not listen yet. */
export function createEngine(options: EngineOptions) {
  const { readiness, cachedResponsesBytes } = options;
  const responses = new ResponseCache(cachedResponsesBytes);
  const settings = settingsOf(options, pipelineOf(options, responses));
  const webSockets = new WebSocketEndpoint(settings);
  const server = new HttpServer({ ...options, ...settings, webSockets });
  return { ...settings, responses, readiness, webSockets, server };
}

function pipelineOf(options: EngineOptions, responses: ResponseCache): Pipeline {
  const { plugins, limiter, metrics } = options;
  const limits = new ClientLimits(limiter);
  const codes = new ErrorCodes({ ...options, metrics: metrics.graph });
  const hasPlugins = plugins.length > 0;
  const shared = { ...options, limits, codes };
  return new Pipeline({
    ...shared,
    admission: shared,
    execution: new Execution({
      ...shared,
      responses,
      hasPlugins,
      events: new EventResults(shared),
    }),
  });
}

function settingsOf(options: EngineOptions, graph: Pipeline): ServerSettings {
  const { log, connections, limiter, authCookie } = options;
  const { server: metrics, graph: counts } = options.metrics;
  const { clock } = connections;
  const refused = (limit: LimitLabel) => counts.refusal(limit);
  return {
    ...options,
    graph,
    metrics,
    refused,
    addresses: new ClientAddresses(options.trustedProxies, log),
    openConnections: new OpenConnections({
      ...connections,
      limiter,
      onCut: (reason) => metrics.connectionsCut.inc({ reason }),
    }),
    messages: new MessageBudget(limiter, refused),
    cookie: authCookie && createAuthCookie(authCookie),
    forwarding: createHeaderForwarding(options.forwardHeaders),
    accessLog: new AccessLog({ ...options, clock, metrics }),
  };
}
