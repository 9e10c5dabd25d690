import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import { addressClient } from '../../../lib/limits/client.ts';
import { takeSlot } from '../../../lib/limits/slot.ts';
import { listen } from '../../../lib/listen.ts';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import { requestError } from '../../operation/request-error.ts';
import type { Readiness } from '../admin/readiness.ts';
import { isCrossSite } from '../requests/origins.ts';
import { endRequestTrace, forwardedFrom } from '../requests/request-trace.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import type { WebSocketEndpoint } from '../websocket/websocket-endpoint.ts';
import { allowedRequestHeaders, answerPreflight, setCorsHeaders } from './cors.ts';
import { countRequest, refuseFlood } from './flood-guard.ts';
import { createGraphQLEndpoint } from './graphql-endpoint.ts';
import { beginInOrder, mayWait } from './pipelining.ts';
import { HttpReply, type ReplyWatcher, VARY } from './reply.ts';
import { type Site, sendNotFound, wantsPage } from './site.ts';

export interface HttpServerSettings extends ServerSettings {
  readonly readiness: Readiness;
  readonly webSockets: WebSocketEndpoint;
  /** The first that a request is for answers it. */
  readonly sites: readonly Site[];
  /** Null where introspection is off. */
  readonly sdl: string | null;
  /** Additional values of Access-Control-Allow-Headers. */
  readonly corsHeaders: readonly string[];
  readonly maxConnections: number;
  /** The path prefix that a proxy may leave in a request's target; '' for none. */
  readonly publicPath: string;
  /** Long enough, while draining, to receive a request that crossed our "connection: close" on the wire. */
  readonly lingerMs: number;
}

// A slowloris client occupies a connection, not a request.
const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  // Longer than the idle timeout of load balancers, or they would send into a connection that closes.
  keepAliveTimeout: 65_000,
};

/** The public listener. */
export function createHttpServer(settings: HttpServerSettings) {
  const { addresses, forwarding, limiter, log, maxConnections, metrics, origins } = settings;
  const { openConnections, publicPath, readiness, refused, sdl, sites, standingOf } = settings;
  const { tokens, tracing, unreadMs, webSockets } = settings;
  const { cookie } = tokens;
  const vary = VARY + (cookie === null ? '' : ', Cookie') + forwarding.vary;
  const requestHeaders = allowedRequestHeaders(settings.corsHeaders);
  const answerGraphQL = createGraphQLEndpoint(settings);
  const watcher: ReplyWatcher = { closed, failed };
  // A counter, not a Set: a Set's discarded tables would retain answered requests until the next full GC.
  let inFlight = 0;
  let onIdle: (() => void) | null = null;

  // Behind requests that are not answered the offer is ignored: the socket's first bytes would go out before their answers.
  const shouldUpgradeCallback = (request: IncomingMessage) =>
    !openConnections.of(request.socket).isBusy && wantsWebSocket(request, publicPath);
  const server = createServer({ ...TIMES, shouldUpgradeCallback }, handle);
  server.maxConnections = maxConnections;
  server.setTimeout(unreadMs, (socket) => openConnections.timedOut(socket));
  server.on('drop', () => refused('connections'));
  server.on('connection', accept);
  server.on('upgrade', (request, socket, head) => webSockets.upgrade(request, socket, head));

  function accept(socket: Socket): void {
    const connection = openConnections.open(socket);
    // A trusted proxy's are everybody's, and limited by the proxy.
    if (addresses.isFromProxy({ socket })) return;
    const client = addressClient(addresses.peerOf(socket));
    connection.slot = takeSlot(limiter, 'connections', () => client);
    if (connection.slot === null) {
      refused('connections');
      socket.destroy();
      return;
    }
    socket.on('close', connection.slot.release);
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // Node parses a read of the socket to its end.
    if (socket.destroyed) return;
    const connection = openConnections.of(socket);
    if (!mayWait(connection)) {
      metrics.connectionsCut.add('pipelined');
      socket.resetAndDestroy();
      return;
    }
    toOriginForm(request, publicPath);
    const forwarded = forwarding.of(request.headers);
    const isForeign = isCrossSite(request, origins, cookie);
    const token = tokens.of(request, forwarded?.digest);
    const sender = {
      token,
      standing: standingOf(token),
      client: { address: addresses.of(request), userAgent: request.headers['user-agent'] ?? null },
      trace: tracing === null ? forwardedFrom(request, addresses) : undefined,
      forwarded,
    };
    const standing = countRequest(request, sender, settings, isForeign);
    if (standing === null) return;
    const begin = () => {
      inFlight += 1;
      connection.underWay += 1;
      const reply = new HttpReply(request, response, sender, watcher, standing === 'over');
      reply.guard(() => answer(reply, isForeign));
    };
    // A waiting request whose connection closes is never begun.
    if (response.socket !== null) begin();
    else beginInOrder(connection, response, begin);
  }

  function answer(reply: HttpReply, isForeign: boolean): MaybePromise<void> {
    const { request } = reply;
    if (readiness.phase === 'draining') reply.set('connection', 'close');
    setCorsHeaders(reply, origins, cookie !== null);
    if (vary !== VARY) reply.set('vary', vary);
    // Without its preflight a page could not read why its request is refused.
    const isPreflight = request.method === 'OPTIONS' && !isForeign;
    const mayPass = isPreflight || pathOf(request).startsWith('/health/');
    return reply.isOver && !mayPass ? refuseFlood(reply, settings) : route(reply, isForeign);
  }

  function closed(reply: HttpReply): void {
    const { request, status, summary } = reply;
    const connection = openConnections.of(request.socket);
    connection.arrived();
    connection.underWay -= 1;
    inFlight -= 1;
    if (inFlight === 0) onIdle?.();
    metrics.http.add(`${Math.floor(status / 100)}xx`);
    if (summary === null) return;
    if (summary.trace) endRequestTrace(summary.trace, reply.isBegun ? status : null);
    // A client ends a subscription over SSE by leaving.
    const isLeft = reply.disconnected.aborted && summary.type !== 'subscription';
    if (isLeft) summary.worsen('gone');
    settings.accessLog.ended(summary, reply.caller, status);
  }

  function failed(reply: HttpReply, error: unknown): void {
    const { requestId } = reply;
    reply.summary?.failed('INTERNAL', 'fault');
    log.error({ requestId, err: error }, 'a request failed');
    if (reply.isBegun) {
      reply.abort();
      return;
    }
    const errors = [requestError('INTERNAL', 'Something went wrong here.', { requestId })];
    try {
      fireAndForget('response', reply.sendJson(500, { errors }));
    } catch {
      reply.abort();
    }
  }

  function route(reply: HttpReply, isForeign: boolean): MaybePromise<void> {
    const { request } = reply;
    if (forwarding.comesTwice(request)) {
      const error = requestError('GRAPHQL_PARSE_FAILED', 'A forwarded header comes twice.');
      return reply.sendJson(400, { errors: [error] });
    }
    if (request.method === 'OPTIONS') return answerPreflight(reply, requestHeaders);
    const path = pathOf(request);
    if (path === '') {
      // The links of a page at the prefix itself would leave it.
      reply.set('location', `${publicPath}/${request.url}`);
      return reply.sendNothing(308);
    }
    if (path !== '/graphql' || wantsPage(request)) {
      for (const site of sites) {
        const answer = site.route(request, path);
        if (answer !== null) return answer(reply);
      }
      if (path !== '/graphql' && path !== '/logout') return routeElsewhere(reply, path);
    }
    if (path === '/logout' && !isForeign) return logout(reply);
    if (!isForeign) return answerGraphQL(reply);
    // Before anything is executed, or charged to the visitor of that page.
    metrics.crossSiteRefused.add();
    return reply.sendJson(403, { errors: [requestError('FORBIDDEN', CROSS_SITE)] });
  }

  /** Takes the cookie away; the token itself ends when it expires. */
  function logout(reply: HttpReply): MaybePromise<void> {
    if (cookie === null) return sendNotFound(reply);
    if (reply.request.method !== 'POST') {
      reply.set('allow', 'POST');
      return reply.sendNothing(405);
    }
    reply.set('set-cookie', cookie.cleared(reply.request));
    return reply.sendNothing(204);
  }

  function routeElsewhere(reply: HttpReply, path: string): MaybePromise<void> {
    if (path === '/graphql/') {
      // 308 keeps the method and the body of a POST.
      reply.set('location', `${publicPath}/graphql${(reply.request.url ?? '').slice(path.length)}`);
      return reply.sendNothing(308);
    }
    if (path === '/health/live') return reply.sendJson(200, { status: 'ok' });
    if (path === '/health/ready') {
      const { status, body } = readiness.report();
      return reply.sendJson(status, { ...body, details: undefined });
    }
    if (path === '/schema.graphql' && sdl !== null) {
      reply.set('content-type', 'text/plain; charset=utf-8');
      return reply.send(200, sdl);
    }
    return sendNotFound(reply);
  }

  return {
    maxConnections,
    listen: (port: number, host: string) => listen(server, port, host),
    /** No new connections; in-flight requests are answered. The caller closes the lasting ones, which are waited for. */
    async drain(): Promise<void> {
      // `close` of an HTTP server would cut idle connections as well, on which a request may be on its way.
      const stopped = new Promise<void>((resolve) =>
        NetServer.prototype.close.call(server, () => resolve()),
      );
      webSockets.drain();
      settings.lasting.drain();
      await Promise.race([stopped, delay(settings.lingerMs)]);
      if (inFlight > 0) {
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      }
      server.closeIdleConnections();
      await stopped;
    },
    terminate(): void {
      webSockets.terminate();
      server.closeAllConnections();
    },
  };
}

const CROSS_SITE =
  'This comes from a page of another site: CORS_ORIGINS has to name its origin, or the request needs a header that is preflighted, such as apollo-require-preflight.';

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

/** Leaves the path: a target may be a whole URL, and all that reads it, limits and routes alike, has to see the same. */
function toOriginForm(request: IncomingMessage, publicPath: string): void {
  const url = request.url?.replace(/^https?:\/\/[^/?]*\/?/i, '/') ?? '/';
  const isBelow = /^(?:[/?]|$)/.test(url.slice(publicPath.length));
  request.url = isBelow && url.startsWith(publicPath) ? url.slice(publicPath.length) : url;
}

/** An upgrade to another protocol is an offer that may be ignored; some HTTP/2 clients make it with each request. */
function wantsWebSocket(request: IncomingMessage, publicPath: string): boolean {
  toOriginForm(request, publicPath);
  // Clients of WebSockets follow no redirect.
  const isEndpoint = ['/graphql', '/graphql/'].includes(pathOf(request));
  return request.headers.upgrade?.toLowerCase() === 'websocket' && isEndpoint;
}
