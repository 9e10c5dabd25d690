import { createHeaderForwarding } from '../lib/forwarded-headers.ts';
import { ClientLimits, MessageBudget } from './admission/client-limits.ts';
import type { EventResultsOptions } from './execution/event-results.ts';
import { Execution } from './execution/execution.ts';
import { Pipeline, type PipelineParts, warnOfUnusedHooks } from './execution/pipeline.ts';
import { HttpServer } from './http/http-server.ts';
import type { RouteSettings } from './http/routes.ts';
import { ErrorMasking, type ErrorMaskingOptions } from './operation/error-masking.ts';
import type { EngineLimiter, LimitLabel } from './operation/limits.ts';
import type { ServerMetrics } from './requests/access-log.ts';
import { AccessLog, type AccessLogOptions } from './requests/access-log.ts';
import { ClientAddresses } from './requests/client-address.ts';
import { OpenConnections } from './requests/open-connections.ts';
import type { ServerOptions } from './requests/server-settings.ts';
import { type AuthCookieOptions, BearerTokens, createAuthCookie } from './requests/tokens.ts';

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
