import { type AllowedOrigins, isAllowedOrigin } from '../requests/origins.ts';
import type { HttpReply } from './reply.ts';

// GraphQL clients send these by themselves: the token, Apollo's names and CSRF header, W3C and Sentry tracing.
const REQUEST_HEADERS = [
  'authorization, content-type, x-request-id',
  'apollographql-client-name, apollographql-client-version',
  'traceparent, tracestate, baggage, sentry-trace',
  'apollo-require-preflight, x-apollo-operation-name, x-apollo-operation-id',
];
const RESPONSE_HEADERS = 'date, x-request-id, retry-after, ratelimit';
const PREFLIGHT_SECONDS = '600';

/** `takesCookies`: whether a page may send its visitor's cookies. */
export function setCorsHeaders(
  reply: HttpReply,
  allowed: AllowedOrigins,
  takesCookies: boolean,
): void {
  const { origin } = reply.request.headers;
  if (origin === undefined || !isAllowedOrigin(origin, allowed)) return;
  reply.set('access-control-allow-origin', origin);
  reply.set('access-control-expose-headers', RESPONSE_HEADERS);
  if (takesCookies) reply.set('access-control-allow-credentials', 'true');
}

/** The value of Access-Control-Allow-Headers: the usual headers and those of this deployment. */
export function allowedRequestHeaders(added: readonly string[]): string {
  return [...REQUEST_HEADERS, ...added].join(', ');
}

export function answerPreflight(reply: HttpReply, requestHeaders: string): void {
  // Browsers ignore these headers if "access-control-allow-origin" is absent.
  reply.set('access-control-allow-methods', 'GET, POST, OPTIONS');
  reply.set('access-control-allow-headers', requestHeaders);
  reply.set('access-control-max-age', PREFLIGHT_SECONDS);
  reply.sendNothing(204);
}
