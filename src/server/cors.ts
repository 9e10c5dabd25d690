import type { IncomingMessage, ServerResponse } from 'node:http';

export interface AllowedOrigins {
  readonly origins: readonly string[];
  readonly anyLocalhost: boolean;
}

const REQUEST_HEADERS =
  'authorization, content-type, x-request-id, apollographql-client-name, apollographql-client-version';
const RESPONSE_HEADERS = 'x-request-id, retry-after, ratelimit';
const PREFLIGHT_SECONDS = 600;

const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a page of this origin may read answers. Exact names: a suffix or a pattern is how others slip in. */
export function isAllowedOrigin(origin: string, allowed: AllowedOrigins): boolean {
  if (allowed.origins.includes(origin)) return true;
  return allowed.anyLocalhost && LOCAL_HOSTS.has(hostOf(origin)?.hostname ?? '');
}

/** A WebSocket is not held back by CORS, so the handshake is judged by the same list here. */
export function mayUpgrade(request: IncomingMessage, allowed: AllowedOrigins): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return true;
  return hostOf(origin)?.host === host?.toLowerCase() || isAllowedOrigin(origin, allowed);
}

export function setCorsHeaders(
  request: IncomingMessage,
  response: ServerResponse,
  allowed: AllowedOrigins,
): void {
  const { origin } = request.headers;
  if (origin === undefined || !isAllowedOrigin(origin, allowed)) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', RESPONSE_HEADERS);
}

export function answerPreflight(response: ServerResponse): void {
  if (response.hasHeader('access-control-allow-origin')) {
    response.setHeader('access-control-allow-methods', 'GET, POST, OPTIONS');
    response.setHeader('access-control-allow-headers', REQUEST_HEADERS);
    response.setHeader('access-control-max-age', PREFLIGHT_SECONDS);
  }
  response.writeHead(204).end();
}

function hostOf(origin: string): URL | null {
  return URL.canParse(origin) ? new URL(origin) : null;
}
