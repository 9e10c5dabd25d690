import type { IncomingMessage } from 'node:http';
import { clientOf, regarding } from '../../lib/limits/request-caller.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { overLimit } from '../core/errors.ts';
import { crossSite, duplicateHeader, isAllowedOrigin, isCrossSite } from '../requests/origins.ts';
import type { TransportServices } from '../requests/transport-services.ts';
import { answerGraphQL } from './graphql-endpoint.ts';
import type { HttpExchange } from './http-exchange.ts';

/** Pages and files that are served in addition to GraphQL. */
export interface Site {
  /** Answers a request; returns null if it is not for this site. */
  answer(exchange: HttpExchange, path: string): MaybePromise<void> | null;
}

export interface RouteServices extends TransportServices {
  readonly sites: readonly Site[];
  /** Null if introspection is off. */
  readonly sdl: string | null;
}

const VARY = 'Authorization, Accept, Accept-Encoding, Origin';
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
  answer(exchange: HttpExchange): MaybePromise<void> {
    const { cookie, forwarding, limits, origins } = this.#services;
    const { request } = exchange;
    const path = pathOf(request);
    const isForeign = isCrossSite(request, origins, cookie);
    const client = clientOf(exchange.caller);
    // Requests that other sites' pages make a browser send are counted apart from the requests of its user.
    const isWithin = limits.takeMessage(isForeign ? regarding(client, 'cross-site') : client);
    exchange.headers.vary = this.#vary;
    this.#setCorsHeaders(exchange);
    // If the preflight failed, a page could not read why its request is refused.
    const isPreflight = request.method === 'OPTIONS' && !isForeign;
    const mayPass = isPreflight || path.startsWith('/health/');
    if (!isWithin && !mayPass) throw overLimit('messages');
    if (forwarding.hasDuplicate(request)) throw duplicateHeader();
    return request.method === 'OPTIONS'
      ? this.#answerPreflight(exchange)
      : this.#answerPath(exchange, path, isForeign);
  }

  #answerPath(exchange: HttpExchange, path: string, isForeign: boolean): MaybePromise<void> {
    const { publicPath, sites } = this.#services;
    const { request } = exchange;
    if (path !== '/graphql' || wantsPage(request)) {
      for (const site of sites) {
        const answer = site.answer(exchange, path);
        if (answer !== null) return answer;
      }
    }
    // Refuses before anything is executed, or charged to that page's visitor.
    if (isForeign && (path === '/graphql' || path === '/logout')) throw crossSite();
    switch (path) {
      case '':
        // At the prefix without a slash, the page's relative links would leave the prefix.
        exchange.headers.location = `${publicPath}/${request.url}`;
        return exchange.sendNothing(308);
      case '/graphql':
        return answerGraphQL(this.#services, exchange);
      case '/logout':
        return this.#logout(exchange);
      case '/health/live':
        return exchange.sendJson(200, { status: 'ok' });
      case '/health/ready':
        return this.#health(exchange);
      case '/schema.graphql':
        return this.#schema(exchange);
      default:
        return exchange.sendNotFound();
    }
  }

  /** Clears the cookie. The token itself stays valid until it expires. */
  #logout(exchange: HttpExchange): MaybePromise<void> {
    const { cookie } = this.#services;
    if (cookie === null) return exchange.sendNotFound();
    if (exchange.request.method !== 'POST') return refuseMethod(exchange, 'POST');
    exchange.headers['set-cookie'] = cookie.cleared(exchange.request);
    return exchange.sendNothing(204);
  }

  #health(exchange: HttpExchange): MaybePromise<void> {
    const { status, body } = this.#services.readiness.report();
    // The public does not see the details, and JSON leaves out an undefined member.
    return exchange.sendJson(status, { ...body, details: undefined });
  }

  #schema(exchange: HttpExchange): MaybePromise<void> {
    const { sdl } = this.#services;
    if (sdl === null) return exchange.sendNotFound();
    const isRead = ['GET', 'HEAD'].includes(exchange.request.method ?? '');
    if (!isRead) return refuseMethod(exchange, 'GET, HEAD');
    exchange.headers['content-type'] = 'text/plain; charset=utf-8';
    return exchange.send(200, sdl);
  }

  #setCorsHeaders(exchange: HttpExchange): void {
    const { cookie, origins } = this.#services;
    const { origin } = exchange.request.headers;
    if (origin === undefined || !isAllowedOrigin(origin, origins)) return;
    exchange.headers['access-control-allow-origin'] = origin;
    exchange.headers['access-control-expose-headers'] = RESPONSE_HEADERS;
    if (cookie !== null) exchange.headers['access-control-allow-credentials'] = 'true';
  }

  #answerPreflight(exchange: HttpExchange): void {
    // Browsers ignore these headers if "access-control-allow-origin" is absent.
    exchange.headers['access-control-allow-methods'] = 'GET, POST, OPTIONS';
    exchange.headers['access-control-allow-headers'] = this.#requestHeaders;
    exchange.headers['access-control-max-age'] = PREFLIGHT_SECONDS;
    exchange.sendNothing(204);
  }
}

export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html');
}

function refuseMethod(exchange: HttpExchange, allowed: string): void {
  exchange.headers.allow = allowed;
  exchange.sendNothing(405);
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
