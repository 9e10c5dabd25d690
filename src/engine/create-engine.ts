import { createHeaderForwarding } from '../lib/forwarded-headers.ts';
import type { OperationParts } from './admission/admission.ts';
import { ClientLimits } from './admission/client-limits.ts';
import { Pipeline, type TeamPlugin, warnOfUnusedHooks } from './execution/pipeline.ts';
import { HttpServer } from './http/http-server.ts';
import type { RouteSettings } from './http/routes.ts';
import { ErrorMasking, type ErrorMaskingOptions } from './operation/error-masking.ts';
import type { EngineLimiter, LimitLabel } from './operation/limits.ts';
import { AccessLog, type AccessLogOptions, type ServerMetrics } from './requests/access-log.ts';
import { ClientAddresses } from './requests/client-address.ts';
import { OpenConnections } from './requests/open-connections.ts';
import type { ServerOptions } from './requests/server-settings.ts';
import { type AuthCookieOptions, BearerTokens, createAuthCookie } from './requests/tokens.ts';

interface EngineOptions
  extends Omit<OperationParts, 'limits' | 'masking'>,
    ServerOptions,
    Pick<RouteSettings, 'sites' | 'sdl'>,
    Pick<AccessLogOptions, 'logSample' | 'logAccountKey'>,
    Pick<ErrorMaskingOptions, 'describe'> {
  /** The team's plugins. */
  readonly plugins: readonly TeamPlugin[];
  readonly limiter: EngineLimiter;
  readonly trustedProxies: readonly string[];
  /** Null if tokens are sent in headers alone. */
  readonly authCookie: AuthCookieOptions | null;
  /** The names of forwarded headers, in lower case. Nothing is shared between requests with different values of these headers. */
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
  const limits = new ClientLimits(limiter);
  const masking = new ErrorMasking({ log, metrics: graphMetrics, describe });
  const settings = {
    ...options,
    pipeline: new Pipeline({ ...options, limits, masking }, options.plugins),
    limits,
    masking,
    metrics,
    refused,
    addresses: new ClientAddresses(options.trustedProxies, log),
    openConnections: new OpenConnections({
      ...connections,
      limiter,
      onCut: (reason) => metrics.connectionsCut.inc({ reason }),
    }),
    cookie,
    tokens: new BearerTokens(cookie),
    forwarding: createHeaderForwarding(options.forwardHeaders),
    accessLog: new AccessLog({ ...options, clock, metrics }),
  };
  return { ...settings, server: new HttpServer(settings) };
}
