import { createHeaderForwarding } from '../lib/forwarded-headers.ts';
import { ClientLimits } from './admission/client-limits.ts';
import { ErrorMasking, type ErrorMaskingOptions } from './core/error-masking.ts';
import type { EngineLimiter } from './core/limits.ts';
import { Pipeline, type TeamPlugin, warnOfUnusedHooks } from './execution/pipeline.ts';
import { HttpServer } from './http/http-server.ts';
import type { RouteServices } from './http/routes.ts';
import { AccessLog, type AccessLogOptions } from './requests/access-log.ts';
import { ClientAddresses } from './requests/client-address.ts';
import { OpenConnections } from './requests/open-connections.ts';
import { type AuthCookieOptions, createAuthCookie } from './requests/tokens.ts';

/** The parts that are made here. */
type Made =
  | 'accessLog'
  | 'addresses'
  | 'cookie'
  | 'forwarding'
  | 'limits'
  | 'masking'
  | 'openConnections'
  | 'pipeline';

interface EngineOptions
  extends Omit<RouteServices, Made>,
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
}

export type Engine = ReturnType<typeof createEngine>;

/** Serves a schema over HTTP, event streams and WebSockets. It does not listen yet. */
export function createEngine(options: EngineOptions) {
  const { log, limiter, authCookie, errorMetrics, metrics, plugins } = options;
  const { logSample, logAccountKey, describe } = options;
  const { clock, heldBytes, unreadMs } = options.connections;
  warnOfUnusedHooks(plugins, log);
  const cookie = authCookie && createAuthCookie(authCookie);
  const limits = new ClientLimits(limiter);
  const masking = new ErrorMasking({ log, metrics: errorMetrics, describe });
  const services = {
    ...options,
    pipeline: new Pipeline({ ...options, limits, masking }, plugins),
    limits,
    masking,
    addresses: new ClientAddresses(options.trustedProxies, log),
    openConnections: new OpenConnections({
      heldBytes,
      unreadMs,
      limiter,
      onCut: (reason) => metrics.connectionsCut.inc({ reason }),
    }),
    cookie,
    forwarding: createHeaderForwarding(options.forwardHeaders),
    accessLog: new AccessLog({ log, clock, metrics, logSample, logAccountKey }),
  };
  return { ...services, server: new HttpServer(services) };
}
