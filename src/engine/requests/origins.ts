import type { IncomingMessage } from 'node:http';
import { type Refusal, refusal } from '../core/errors.ts';
import { isLocal } from './client-address.ts';
import type { AuthCookie } from './tokens.ts';

export interface AllowedOrigins {
  readonly origins: readonly string[];
  readonly anyLocalhost: boolean;
}

/** Whether a page of this origin may read responses. Origins have to match exactly: suffixes and patterns let others in. */
export function isAllowedOrigin(origin: string, allowed: AllowedOrigins): boolean {
  if (allowed.origins.includes(origin)) return true;
  return allowed.anyLocalhost && isLocal(origin);
}

/** Whether a request comes from this server's own page, from an allowed origin, or from no page. */
export function isAllowedPage(
  { headers }: IncomingMessage,
  allowed: AllowedOrigins,
  cookie: AuthCookie | null,
): boolean {
  const { origin, host = '' } = headers;
  if (origin === undefined || isAllowedOrigin(origin, allowed)) return true;
  const page = URL.parse(origin);
  if (page === null) return false;
  // An attacker on the network can change a page of plain HTTP, and browsers send the cookie with its sockets.
  const mayBeChanged = page.protocol !== 'https:' && !isLocal(origin);
  if (cookie !== null && mayBeChanged) return false;
  return URL.parse(`${page.protocol}//${host}`)?.host === page.host;
}

// A page of another site needs a preflight for these headers, and the preflight fails. A proxy may add other headers.
const PREFLIGHTED_HEADER =
  /^(?:authorization|apollo-require-preflight|x-apollo-operation-.+|apollographql-client-.+)$/;
const SIMPLE_TYPE =
  /^(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)[ \t]*(?:;|$)/i;

/** Whether any page of the web can make its visitor's browser send this request, without the visitor's intent. */
export function isCrossSite(
  request: IncomingMessage,
  allowed: AllowedOrigins,
  cookie: AuthCookie | null,
): boolean {
  const { origin, 'sec-fetch-site': site, 'content-type': type } = request.headers;
  // The browser's own header is checked first, because a proxy may have rewritten `Host`.
  if (site === 'same-origin') return false;
  const isAllowed = origin !== undefined && isAllowedOrigin(origin, allowed);
  const isForeign = site === 'cross-site' ? !isAllowed : !isAllowedPage(request, allowed, cookie);
  const isPreflightedType = type && !SIMPLE_TYPE.test(type);
  if (!isForeign || isPreflightedType) return false;
  const { authorization: _, ...others } = request.headers;
  // A proxy may have made `Authorization` from the visitor's cookie, and any page can make a browser send the cookie.
  const sent = cookie?.textIn(request.headers.cookie ?? '') ? others : request.headers;
  return !Object.keys(sent).some((name) => PREFLIGHTED_HEADER.test(name));
}

export function crossSite(): Refusal {
  const message =
    'A page of another site sent this request: name its origin in CORS_ORIGINS, or send a header that is preflighted, such as apollo-require-preflight.';
  return refusal('FORBIDDEN', message, { status: 403 });
}

/** No header helps a WebSocket, because a page cannot set one. */
export function foreignSocket(): Refusal {
  const message = 'A page of another site opened this WebSocket: name its origin in CORS_ORIGINS.';
  return refusal('FORBIDDEN', message, { status: 403 });
}

export function duplicateHeader(): Refusal {
  const message = 'A forwarded header is sent twice.';
  return refusal('GRAPHQL_PARSE_FAILED', message, { isWellFormed: false });
}
