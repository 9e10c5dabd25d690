import type { IncomingMessage } from 'node:http';
import type { AuthCookie } from '../request/auth-cookie.ts';
import type { HttpReply } from './reply.ts';

export interface AllowedOrigins {
  readonly origins: readonly string[];
  readonly anyLocalhost: boolean;
}

// GraphQL clients send these by themselves: the token, Apollo's names and CSRF header, W3C and Sentry tracing.
const REQUEST_HEADERS = [
  ...['authorization', 'content-type', 'x-request-id'],
  ...['apollographql-client-name', 'apollographql-client-version'],
  ...['traceparent', 'tracestate', 'baggage', 'sentry-trace'],
  ...['apollo-require-preflight', 'x-apollo-operation-name', 'x-apollo-operation-id'],
];
const RESPONSE_HEADERS = 'date, x-request-id, retry-after, ratelimit';
const PREFLIGHT_SECONDS = '600';

const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a page of this origin may read responses. Origins match exactly: suffixes and patterns let others in. */
export function isAllowedOrigin(origin: string, allowed: AllowedOrigins): boolean {
  if (allowed.origins.includes(origin)) return true;
  return allowed.anyLocalhost && LOCAL_HOSTS.has(URL.parse(origin)?.hostname ?? '');
}

/** Whether a page of this server itself, or of an allowed origin, or no page at all sends this request. */
export function isAllowedPage({ headers }: IncomingMessage, allowed: AllowedOrigins): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return URL.parse(origin)?.host === host?.toLowerCase() || isAllowedOrigin(origin, allowed);
}

// A page of another site needs a preflight for them, which it is not allowed; proxies add others to any request.
const PREFLIGHTED_HEADER =
  /^(?:authorization|apollo-require-preflight|x-apollo-operation-.+|apollographql-client-.+)$/;
const SIMPLE_TYPE =
  /^(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)[ \t]*(?:;|$)/i;

/** Whether any page of the web can make its visitor's browser send this request, so that it is none of the visitor's own. */
export function isCrossSite(
  request: IncomingMessage,
  allowed: AllowedOrigins,
  cookie: AuthCookie | null,
): boolean {
  const { origin, 'sec-fetch-site': site, 'content-type': type } = request.headers;
  // What the browser says of itself comes first: a proxy may have rewritten `Host`.
  if (site === 'same-origin') return false;
  const isForeign =
    site === 'cross-site'
      ? origin === undefined || !isAllowedOrigin(origin, allowed)
      : !isAllowedPage(request, allowed);
  if (!isForeign || (type && !SIMPLE_TYPE.test(type))) return false;
  const { authorization: _, ...others } = request.headers;
  // A proxy may have made it of the visitor's cookie, which any page can have sent.
  const sent = cookie?.textIn(request.headers.cookie ?? '') ? others : request.headers;
  return !Object.keys(sent).some((name) => PREFLIGHTED_HEADER.test(name));
}

/** `takesCookies`: whether the page may have its visitor's cookies sent. */
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
  return [...new Set([...REQUEST_HEADERS, ...added])].join(', ');
}

export function answerPreflight(reply: HttpReply, requestHeaders: string): void {
  if (reply.has('access-control-allow-origin')) {
    reply.set('access-control-allow-methods', 'GET, POST, OPTIONS');
    reply.set('access-control-allow-headers', requestHeaders);
    reply.set('access-control-max-age', PREFLIGHT_SECONDS);
  }
  reply.sendNothing(204);
}
