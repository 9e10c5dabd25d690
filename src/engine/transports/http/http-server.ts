import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { clientOf } from '../../../lib/limits/caller.ts';
import { addressClient, regarding } from '../../../lib/limits/client.ts';
import { listen } from '../../../lib/listen.ts';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import { BearerTokens } from '../requests/bearer.ts';
import { hasBody } from '../requests/has-body.ts';
import { isCrossSite } from '../requests/origins.ts';
import { WebSocketEndpoint } from '../websocket/websocket-endpoint.ts';
import { watchBody } from './body.ts';
import { setCorsHeaders } from './cors.ts';
import { HttpReply, refuseFlood, VARY } from './reply.ts';
import {
  createRoutes,
  pathOf,
  type RouteSettings,
  toOriginForm,
  wantsWebSocket,
} from './routes.ts';

// A slowloris client occupies a connection, not a request.
const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  // Longer than the idle timeout of load balancers. Otherwise they would send into a connection that is closing.
  keepAliveTimeout: 65_000,
};

const CLOSE_IDLE_MS = 50;

/** The public listener: accepts connections and requests within their bounds, and drains them in a shutdown. */
export class HttpServer {
  readonly webSockets: WebSocketEndpoint;
  readonly #settings: RouteSettings;
  readonly #server: Server;
  readonly #route: ReturnType<typeof createRoutes>;
  readonly #vary: string;
  readonly #tokens: BearerTokens;

  constructor(settings: RouteSettings) {
    const { connections, cookie, forwarding, openConnections, publicPath } = settings;
    this.webSockets = new WebSocketEndpoint(settings);
    this.#settings = settings;
    this.#route = createRoutes(settings);
    this.#vary = VARY + (cookie === null ? '' : ', Cookie') + forwarding.vary;
    this.#tokens = new BearerTokens(cookie);
    // An upgrade is ignored while earlier requests are unanswered: the socket's first bytes would overtake their answers.
    const shouldUpgradeCallback = (request: IncomingMessage) =>
      !openConnections.of(request.socket).isBusy && wantsWebSocket(request, publicPath);
    this.#server = createServer({ ...TIMES, shouldUpgradeCallback }, (request, response) =>
      this.#handle(request, response),
    );
    this.#server.maxConnections = connections.most;
    this.#server.setTimeout(connections.unreadMs, (socket) => openConnections.timedOut(socket));
    this.#server.on('drop', () => settings.refused('connections'));
    this.#server.on('connection', (socket) => this.#accept(socket));
    this.#server.on('upgrade', (request, socket, head) =>
      this.webSockets.upgrade(request, socket, head),
    );
  }

  listen(port: number, host: string) {
    return listen(this.#server, port, host);
  }

  /** Accepts no more connections, and waits until all requests are answered and all connections closed. */
  async drain(): Promise<void> {
    const { connections, openConnections } = this.#settings;
    // An HTTP server's `close` would also close idle connections, on which a request may be under way.
    const stopped = new Promise<void>((resolve) =>
      NetServer.prototype.close.call(this.#server, () => resolve()),
    );
    openConnections.drain();
    await Promise.race([stopped, delay(connections.lingerMs)]);
    // A connection becomes idle when its request is answered.
    const closing = setInterval(() => this.#server.closeIdleConnections(), CLOSE_IDLE_MS);
    await stopped;
    clearInterval(closing);
  }

  terminate(): void {
    this.webSockets.terminate();
    this.#server.closeAllConnections();
  }

  #accept(socket: Socket): void {
    const { addresses, openConnections, refused } = this.#settings;
    openConnections.open(socket);
    // A trusted proxy's connections serve many clients, and the proxy limits them.
    if (addresses.isFromProxy({ socket })) return;
    if (openConnections.charge(socket, addressClient(addresses.peerOf(socket)))) return;
    refused('connections');
    socket.destroy();
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const { cookie, messages, metrics, openConnections, origins, publicPath } = this.#settings;
    const { socket } = request;
    // Node parses what it has read to the end, even from a destroyed socket.
    if (socket.destroyed) return;
    const connection = openConnections.of(socket);
    if (connection.isFull) {
      metrics.connectionsCut.inc({ reason: 'pipelined' });
      socket.resetAndDestroy();
      return;
    }
    toOriginForm(request, publicPath);
    const isForeign = isCrossSite(request, origins, cookie);
    const sender = this.#senderOf(request);
    const client = clientOf(sender);
    // Requests that pages of other sites make a browser send are counted apart from its user's own.
    const isWithin = messages.take(isForeign ? regarding(client, 'cross-site') : client);
    const begin = () => {
      const reply = new HttpReply(request, response, sender, connection, this.#settings);
      if (hasBody(request)) watchBody(request, () => reply.cutForPieces());
      reply.guard(() => this.#answer(reply, isForeign, isWithin));
    };
    if (response.socket !== null) begin();
    else connection.beginInOrder(response, begin);
  }

  #senderOf(request: IncomingMessage) {
    const { addresses, forwarding, standingOf } = this.#settings;
    const forwarded = forwarding.of(request.headers);
    const token = this.#tokens.of(request, forwarded?.digest);
    return {
      token,
      standing: standingOf(token),
      client: { address: addresses.of(request), userAgent: request.headers['user-agent'] ?? null },
      forwarded,
    };
  }

  #answer(reply: HttpReply, isForeign: boolean, isWithin: boolean): MaybePromise<void> {
    const { cookie, origins, readiness } = this.#settings;
    const { request } = reply;
    if (readiness.phase === 'draining') reply.set('connection', 'close');
    setCorsHeaders(reply, origins, cookie !== null);
    if (this.#vary !== VARY) reply.set('vary', this.#vary);
    // If the preflight failed, a page could not read why its request is refused.
    const isPreflight = request.method === 'OPTIONS' && !isForeign;
    const mayPass = isPreflight || pathOf(request).startsWith('/health/');
    return isWithin || mayPass ? this.#route(reply, isForeign) : refuseFlood(reply);
  }
}
