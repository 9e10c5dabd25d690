import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { markNotSent } from '../operation/errors.ts';
import {
  type AllowedOrigins,
  crossSite,
  duplicateHeader,
  isAllowedOrigin,
} from '../requests/origins.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import { createGraphQLEndpoint } from './graphql-endpoint.ts';
import type { HttpReply } from './reply.ts';
import { type Site, sendNotFound, wantsPage } from './site.ts';

export interface RouteSettings extends ServerSettings {
  readonly sites: readonly Site[];
  /** Null if introspection is off. */
  readonly sdl: string | null;
}

/** Returns the function that answers a request by its path. `isForeign`: whether a page of another site may have sent it. */
export function createRoutes(
  settings: RouteSettings,
): (reply: HttpReply, isForeign: boolean) => MaybePromise<void> {
  const { cookie, forwarding, publicPath, readiness, sdl, sites } = settings;
  const requestHeaders = allowedRequestHeaders(forwarding.names);
  const answerGraphQL = createGraphQLEndpoint(settings);

  /** Clears the cookie. The token itself stays valid until it expires. */
  function logout(reply: HttpReply): MaybePromise<void> {
    if (cookie === null) return sendNotFound(reply);
    if (reply.request.method !== 'POST') return refuseMethod(reply, 'POST');
    reply.set('set-cookie', cookie.cleared(reply.request));
    return reply.sendNothing(204);
  }

  function health(reply: HttpReply): MaybePromise<void> {
    const { status, body } = readiness.report();
    // The public does not see the details, and JSON leaves out an undefined member.
    return reply.sendJson(status, { ...body, details: undefined });
  }

  function schema(reply: HttpReply): MaybePromise<void> {
    if (sdl === null) return sendNotFound(reply);
    if (!['GET', 'HEAD'].includes(reply.request.method ?? ''))
      return refuseMethod(reply, 'GET, HEAD');
    reply.set('content-type', 'text/plain; charset=utf-8');
    return reply.send(200, sdl);
  }

  return (reply, isForeign) => {
    const { request } = reply;
    if (forwarding.hasDuplicate(request)) {
      return refuse(reply, 400, duplicateHeader());
    }
    if (request.method === 'OPTIONS') return answerPreflight(reply, requestHeaders);
    const path = pathOf(request);
    if (path !== '/graphql' || wantsPage(request)) {
      for (const site of sites) {
        const answer = site.answer(reply, path);
        if (answer !== null) return answer;
      }
    }
    // Refuses before anything is executed, or charged to that page's visitor.
    if (isForeign && (path === '/graphql' || path === '/logout')) {
      return refuse(reply, 403, crossSite());
    }
    switch (path) {
      case '':
        // At the prefix without a slash, the page's relative links would leave the prefix.
        reply.set('location', `${publicPath}/${request.url}`);
        return reply.sendNothing(308);
      case '/graphql':
        return answerGraphQL(reply);
      case '/logout':
        return logout(reply);
      case '/health/live':
        return reply.sendJson(200, { status: 'ok' });
      case '/health/ready':
        return health(reply);
      case '/schema.graphql':
        return schema(reply);
      default:
        return sendNotFound(reply);
    }
  };
}

function refuseMethod(reply: HttpReply, allowed: string): void {
  reply.set('allow', allowed);
  reply.sendNothing(405);
}

function refuse(reply: HttpReply, status: number, error: GraphQLError): MaybePromise<void> {
  if (reply.request.method === 'POST') markNotSent([error]);
  return reply.sendJson(status, { errors: [error] });
}

export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

/** Rewrites the target, which may be a whole URL, to a path below `publicPath`, so that limits and routes read one form. */
export function toOriginForm(request: IncomingMessage, publicPath: string): void {
  const url = request.url?.replace(/^https?:\/\/[^/?]*\/?/i, '/') ?? '/';
  const rest = url.slice(publicPath.length);
  const isBelow = url.startsWith(publicPath) && /^(?:[/?]|$)/.test(rest);
  request.url = isBelow ? rest : url;
}

/** An upgrade to another protocol is an offer that may be ignored. Some HTTP/2 clients make it with each request. */
export function wantsWebSocket(request: IncomingMessage, publicPath: string): boolean {
  toOriginForm(request, publicPath);
  const { upgrade, 'transfer-encoding': coding, 'content-length': length = 0 } = request.headers;
  // Node would pass on a body as the first frames.
  const hasBody = coding !== undefined || Number(length) !== 0;
  return upgrade?.toLowerCase() === 'websocket' && pathOf(request) === '/graphql' && !hasBody;
}

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
