import { createHeaderForwarding } from '../lib/forwarded-headers.ts';
import { ClientLimits } from './admission/client-limits.ts';
import type { EventResultsOptions } from './execution/event-results.ts';
import { Execution } from './execution/execution.ts';
import { ErrorMasking, type ErrorMaskingOptions } from './operation/error-masking.ts';
import type { EngineLimiter, LimitLabel } from './operation/limits.ts';
import { Pipeline, type PipelineParts } from './pipeline/pipeline.ts';
import { warnOfUnusedHooks } from './pipeline/unused-hooks.ts';
import { MessageBudget } from './transports/connections/message-budget.ts';
import { OpenConnections } from './transports/connections/open-connections.ts';
import { HttpServer } from './transports/http/http-server.ts';
import type { RouteSettings } from './transports/http/routes.ts';
import { AccessLog, type AccessLogOptions } from './transports/requests/access-log.ts';
import { type AuthCookieOptions, createAuthCookie } from './transports/requests/auth-cookie.ts';
import { BearerTokens } from './transports/requests/bearer.ts';
import { ClientAddresses } from './transports/requests/client-address.ts';
import type { ServerMetrics } from './transports/requests/server-metrics.ts';
import type { ServerOptions } from './transports/requests/server-settings.ts';

interface EngineOptions
  extends Omit<PipelineParts, 'limits' | 'codes' | 'execution'>,
    ServerOptions,
    Pick<RouteSettings, 'sites' | 'sdl'>,
    Pick<AccessLogOptions, 'logSample' | 'logAccountKey'>,
    Pick<ErrorMaskingOptions, 'describe'>,
    Pick<EventResultsOptions, 'watchToken'> {
  readonly limiter: EngineLimiter;
  /** Whether results report their costs. */
  readonly receipts: boolean;
  readonly trustedProxies: readonly string[];
  /** Null if tokens are sent in headers alone. */
  readonly authCookie: AuthCookieOptions | null;
  /** Names in lower case. Nothing is shared between requests with different values of these headers. */
  readonly forwardHeaders: readonly string[];
  readonly metrics: {
    readonly server: ServerMetrics;
    readonly graph: ErrorMaskingOptions['metrics'];
  };
}

export type Engine = ReturnType<typeof createEngine>;

/** Serves a schema over HTTP, event streams and WebSockets. It does not listen yet. */
export function createEngine(options: EngineOptions) {
  const { log, limiter, connections, authCookie, describe } = options;
  const { server: metrics, graph: graphMetrics } = options.metrics;
  const { clock } = connections;
  warnOfUnusedHooks(options.plugins, log);
  const cookie = authCookie && createAuthCookie(authCookie);
  const refused = (limit: LimitLabel) => graphMetrics.refusal(limit);
  const parts = {
    ...options,
    limits: new ClientLimits(limiter),
    codes: new ErrorMasking({ log, metrics: graphMetrics, describe }),
  };
  const settings = {
    ...options,
    graph: new Pipeline({ ...parts, execution: new Execution(parts) }),
    metrics,
    refused,
    addresses: new ClientAddresses(options.trustedProxies, log),
    openConnections: new OpenConnections({
      ...connections,
      limiter,
      onCut: (reason) => metrics.connectionsCut.inc({ reason }),
    }),
    messages: new MessageBudget(limiter, refused),
    cookie,
    tokens: new BearerTokens(cookie),
    forwarding: createHeaderForwarding(options.forwardHeaders),
    accessLog: new AccessLog({ ...options, clock, metrics }),
  };
  return { ...settings, server: new HttpServer(settings) };
}
