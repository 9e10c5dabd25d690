import type { IncomingMessage } from 'node:http';
import { clientOf, regarding } from '../../lib/limits/request-caller.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { crossSite, duplicateHeader, isAllowedOrigin, isCrossSite } from '../requests/origins.ts';
import type { TransportServices } from '../requests/transport-services.ts';
import { answerGraphQL } from './graphql-endpoint.ts';
import { type HttpReply, tooManyMessages, VARY } from './reply.ts';

/** Pages and files that are served in addition to GraphQL. */
export interface Site {
  /** Answers a request; returns null if it is not for this site. */
  answer(reply: HttpReply, path: string): MaybePromise<void> | null;
}

export interface RouteServices extends TransportServices {
  readonly sites: readonly Site[];
  /** Null if introspection is off. */
  readonly sdl: string | null;
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

/** Answers each request by its path, after the checks of every request. */
export class Routes {
  readonly #services: RouteServices;
  readonly #vary: string;
  /** The usual request headers and those of this deployment. */
  readonly #requestHeaders: string;

  constructor(services: RouteServices) {
    const { cookie, forwarding } = services;
    this.#services = services;
    this.#vary = VARY + (cookie === null ? '' : ', Cookie') + forwarding.vary;
    this.#requestHeaders = [...REQUEST_HEADERS, ...forwarding.names].join(', ');
  }

  /** Throws a Refusal if the request is refused. */
  answer(reply: HttpReply): MaybePromise<void> {
    const { cookie, forwarding, limits, origins } = this.#services;
    const { request } = reply;
    const path = pathOf(request);
    const isForeign = isCrossSite(request, origins, cookie);
    const client = clientOf(reply.caller);
    // Requests that other sites' pages make a browser send are counted apart from the requests of its user.
    const isWithin = limits.takeMessage(isForeign ? regarding(client, 'cross-site') : client);
    this.#setCorsHeaders(reply);
    if (this.#vary !== VARY) reply.headers.vary = this.#vary;
    // If the preflight failed, a page could not read why its request is refused.
    const isPreflight = request.method === 'OPTIONS' && !isForeign;
    const mayPass = isPreflight || path.startsWith('/health/');
    if (!isWithin && !mayPass) throw tooManyMessages();
    if (forwarding.hasDuplicate(request)) throw duplicateHeader();
    return request.method === 'OPTIONS'
      ? this.#answerPreflight(reply)
      : this.#answerPath(reply, path, isForeign);
  }

  #answerPath(reply: HttpReply, path: string, isForeign: boolean): MaybePromise<void> {
    const { publicPath, sites } = this.#services;
    const { request } = reply;
    if (path !== '/graphql' || wantsPage(request)) {
      for (const site of sites) {
        const answer = site.answer(reply, path);
        if (answer !== null) return answer;
      }
    }
    // Refuses before anything is executed, or charged to that page's visitor.
    if (isForeign && (path === '/graphql' || path === '/logout')) throw crossSite();
    switch (path) {
      case '':
        // At the prefix without a slash, the page's relative links would leave the prefix.
        reply.headers.location = `${publicPath}/${request.url}`;
        return reply.sendNothing(308);
      case '/graphql':
        return answerGraphQL(this.#services, reply);
      case '/logout':
        return this.#logout(reply);
      case '/health/live':
        return reply.sendJson(200, { status: 'ok' });
      case '/health/ready':
        return this.#health(reply);
      case '/schema.graphql':
        return this.#schema(reply);
      default:
        return reply.sendNotFound();
    }
  }

  /** Clears the cookie. The token itself stays valid until it expires. */
  #logout(reply: HttpReply): MaybePromise<void> {
    const { cookie } = this.#services;
    if (cookie === null) return reply.sendNotFound();
    if (reply.request.method !== 'POST') return refuseMethod(reply, 'POST');
    reply.headers['set-cookie'] = cookie.cleared(reply.request);
    return reply.sendNothing(204);
  }

  #health(reply: HttpReply): MaybePromise<void> {
    const { status, body } = this.#services.readiness.report();
    // The public does not see the details, and JSON leaves out an undefined member.
    return reply.sendJson(status, { ...body, details: undefined });
  }

  #schema(reply: HttpReply): MaybePromise<void> {
    const { sdl } = this.#services;
    if (sdl === null) return reply.sendNotFound();
    const isRead = ['GET', 'HEAD'].includes(reply.request.method ?? '');
    if (!isRead) return refuseMethod(reply, 'GET, HEAD');
    reply.headers['content-type'] = 'text/plain; charset=utf-8';
    return reply.send(200, sdl);
  }

  #setCorsHeaders(reply: HttpReply): void {
    const { cookie, origins } = this.#services;
    const { origin } = reply.request.headers;
    if (origin === undefined || !isAllowedOrigin(origin, origins)) return;
    reply.headers['access-control-allow-origin'] = origin;
    reply.headers['access-control-expose-headers'] = RESPONSE_HEADERS;
    if (cookie !== null) reply.headers['access-control-allow-credentials'] = 'true';
  }

  #answerPreflight(reply: HttpReply): void {
    // Browsers ignore these headers if "access-control-allow-origin" is absent.
    reply.headers['access-control-allow-methods'] = 'GET, POST, OPTIONS';
    reply.headers['access-control-allow-headers'] = this.#requestHeaders;
    reply.headers['access-control-max-age'] = PREFLIGHT_SECONDS;
    reply.sendNothing(204);
  }
}

export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html');
}

function refuseMethod(reply: HttpReply, allowed: string): void {
  reply.headers.allow = allowed;
  reply.sendNothing(405);
}

function pathOf(request: IncomingMessage): string {
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
