import type { IncomingMessage } from 'node:http';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import { requestError } from '../../operation/request-error.ts';
import type { Readiness } from '../admin/readiness.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import { allowedRequestHeaders, answerPreflight } from './cors.ts';
import { createGraphQLEndpoint } from './graphql-endpoint.ts';
import type { HttpReply } from './reply.ts';
import { type Site, sendNotFound, wantsPage } from './site.ts';

export interface RouteSettings extends ServerSettings {
  readonly readiness: Readiness;
  /** The first site whose route matches answers the request. */
  readonly sites: readonly Site[];
  /** Null if introspection is off. */
  readonly sdl: string | null;
  /** Additional values of Access-Control-Allow-Headers. */
  readonly corsHeaders: readonly string[];
  /** The path prefix that a proxy may leave in a request's target; '' for none. */
  readonly publicPath: string;
}

const CROSS_SITE =
  'A page of another site sent this request: name its origin in CORS_ORIGINS, or send a header that is preflighted, such as apollo-require-preflight.';

/** Returns the function that answers a request by its path. `isForeign`: whether a page of another site may have sent it. */
export function createRoutes(
  settings: RouteSettings,
): (reply: HttpReply, isForeign: boolean) => MaybePromise<void> {
  const { cookie, forwarding, publicPath, readiness, sdl, sites } = settings;
  const requestHeaders = allowedRequestHeaders(settings.corsHeaders);
  const answerGraphQL = createGraphQLEndpoint(settings);

  function graphQL(reply: HttpReply, isForeign: boolean): MaybePromise<void> {
    if (!isForeign) return answerGraphQL(reply);
    // Refuses before anything is executed, or charged to that page's visitor.
    return reply.sendJson(403, { errors: [requestError('FORBIDDEN', CROSS_SITE)] });
  }

  /** Clears the cookie. The token itself stays valid until it expires. */
  function logout(reply: HttpReply): MaybePromise<void> {
    if (cookie === null) return sendNotFound(reply);
    if (reply.request.method !== 'POST') {
      reply.set('allow', 'POST');
      return reply.sendNothing(405);
    }
    reply.set('set-cookie', cookie.cleared(reply.request));
    return reply.sendNothing(204);
  }

  function health(reply: HttpReply): MaybePromise<void> {
    const { status, body } = readiness.report();
    return reply.sendJson(status, { ...body, details: undefined });
  }

  function schema(reply: HttpReply): MaybePromise<void> {
    if (sdl === null) return sendNotFound(reply);
    reply.set('content-type', 'text/plain; charset=utf-8');
    return reply.send(200, sdl);
  }

  return (reply, isForeign) => {
    const { request } = reply;
    if (forwarding.comesTwice(request)) {
      const error = requestError('GRAPHQL_PARSE_FAILED', 'A forwarded header comes twice.');
      return reply.sendJson(400, { errors: [error] });
    }
    if (request.method === 'OPTIONS') return answerPreflight(reply, requestHeaders);
    const path = pathOf(request);
    const isGraphQL = path === '/graphql' && !wantsPage(request);
    const site = isGraphQL ? null : siteOf(sites, request, path);
    if (site !== null) return site(reply);
    switch (path) {
      case '':
        // At the prefix without a slash, the page's relative links would leave the prefix.
        reply.set('location', `${publicPath}/${request.url}`);
        return reply.sendNothing(308);
      case '/graphql':
        return graphQL(reply, isForeign);
      case '/logout':
        return isForeign ? graphQL(reply, isForeign) : logout(reply);
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

export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

function siteOf(sites: readonly Site[], request: IncomingMessage, path: string) {
  for (const site of sites) {
    const answer = site.route(request, path);
    if (answer !== null) return answer;
  }
  return null;
}

/** Rewrites the target, which may be a whole URL, to a path, so that limits and routes read the same one. */
export function toOriginForm(request: IncomingMessage, publicPath: string): void {
  const url = request.url?.replace(/^https?:\/\/[^/?]*\/?/i, '/') ?? '/';
  const isBelow = /^(?:[/?]|$)/.test(url.slice(publicPath.length));
  request.url = isBelow && url.startsWith(publicPath) ? url.slice(publicPath.length) : url;
}

/** An upgrade to another protocol is an offer that may be ignored. Some HTTP/2 clients make it with each request. */
export function wantsWebSocket(request: IncomingMessage, publicPath: string): boolean {
  toOriginForm(request, publicPath);
  return request.headers.upgrade?.toLowerCase() === 'websocket' && pathOf(request) === '/graphql';
}
