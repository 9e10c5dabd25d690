import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import { clientOf } from '../../../lib/limits/caller.ts';
import { addressClient, regarding } from '../../../lib/limits/client.ts';
import { Slot } from '../../../lib/limits/slot.ts';
import { listen } from '../../../lib/listen.ts';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import { requestError } from '../../operation/request-error.ts';
import { BYTES_OF_PIECES } from '../connections/message-budget.ts';
import { isCrossSite } from '../requests/origins.ts';
import { endRequestTrace } from '../requests/request-trace.ts';
import type { WebSocketEndpoint } from '../websocket/websocket-endpoint.ts';
import { setCorsHeaders } from './cors.ts';
import { beginInOrder, mayWait } from './pipelining.ts';
import { HttpReply, type ReplyWatcher, refuseFlood, VARY } from './reply.ts';
import {
  createRoutes,
  pathOf,
  type RouteSettings,
  toOriginForm,
  wantsWebSocket,
} from './routes.ts';

export interface HttpServerSettings extends RouteSettings {
  readonly webSockets: WebSocketEndpoint;
  readonly maxConnections: number;
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

/** The public listener: accepts connections and requests within their bounds, and drains them in a shutdown. */
export class HttpServer implements ReplyWatcher {
  readonly maxConnections: number;
  readonly #settings: HttpServerSettings;
  readonly #server: Server;
  readonly #route: ReturnType<typeof createRoutes>;
  readonly #vary: string;
  // A counter, not a Set: a Set's discarded tables would retain answered requests until the next full GC.
  #inFlight = 0;
  #onIdle: (() => void) | null = null;

  constructor(settings: HttpServerSettings) {
    const { forwarding, maxConnections, openConnections, publicPath, refused } = settings;
    const { tokens, unreadMs, webSockets } = settings;
    this.maxConnections = maxConnections;
    this.#settings = settings;
    this.#route = createRoutes(settings);
    this.#vary = VARY + (tokens.cookie === null ? '' : ', Cookie') + forwarding.vary;
    // Behind requests that are not answered an upgrade is ignored: the socket's first bytes would overtake their answers.
    const shouldUpgradeCallback = (request: IncomingMessage) =>
      !openConnections.of(request.socket).isBusy && wantsWebSocket(request, publicPath);
    this.#server = createServer({ ...TIMES, shouldUpgradeCallback }, (request, response) =>
      this.#handle(request, response),
    );
    this.#server.maxConnections = maxConnections;
    this.#server.setTimeout(unreadMs, (socket) => openConnections.timedOut(socket));
    this.#server.on('drop', () => refused('connections'));
    this.#server.on('connection', (socket) => this.#accept(socket));
    this.#server.on('upgrade', (request, socket, head) =>
      webSockets.upgrade(request, socket, head),
    );
  }

  listen(port: number, host: string) {
    return listen(this.#server, port, host);
  }

  /** No new connections; in-flight requests are answered. The caller closes the lasting ones, which are waited for. */
  async drain(): Promise<void> {
    const { lasting, lingerMs, webSockets } = this.#settings;
    // `close` of an HTTP server would cut idle connections as well, on which a request may be on its way.
    const stopped = new Promise<void>((resolve) =>
      NetServer.prototype.close.call(this.#server, () => resolve()),
    );
    webSockets.drain();
    lasting.drain();
    await Promise.race([stopped, delay(lingerMs)]);
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.#server.closeIdleConnections();
    await stopped;
  }

  terminate(): void {
    this.#settings.webSockets.terminate();
    this.#server.closeAllConnections();
  }

  #accept(socket: Socket): void {
    const { addresses, limiter, openConnections, refused } = this.#settings;
    const connection = openConnections.open(socket);
    // Those of a trusted proxy are everybody's, and the proxy limits them.
    if (addresses.isFromProxy({ socket })) return;
    const client = addressClient(addresses.peerOf(socket));
    const slot = Slot.take(limiter, 'connections', () => client);
    connection.slot = slot;
    if (slot !== null) {
      socket.on('close', () => slot.release());
      return;
    }
    refused('connections');
    socket.destroy();
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const { messages, metrics, openConnections, origins, publicPath, tokens } = this.#settings;
    const { socket } = request;
    // Node parses a read of the socket to its end.
    if (socket.destroyed) return;
    const connection = openConnections.of(socket);
    if (!mayWait(connection)) {
      metrics.connectionsCut.inc({ reason: 'pipelined' });
      socket.resetAndDestroy();
      return;
    }
    toOriginForm(request, publicPath);
    const isForeign = isCrossSite(request, origins, tokens.cookie);
    const sender = this.#senderOf(request);
    const client = clientOf(sender);
    // What pages of other sites make a browser send counts apart from what its user does.
    const isWithin = messages.take(isForeign ? regarding(client, 'cross-site') : client);
    const begin = () => {
      this.#inFlight += 1;
      connection.underWay += 1;
      const reply = new HttpReply(request, response, sender, this);
      reply.guard(() => this.#answer(reply, isForeign, isWithin));
    };
    // A waiting request whose connection closes is never begun.
    if (response.socket !== null) begin();
    else beginInOrder(connection, response, begin);
  }

  #senderOf(request: IncomingMessage) {
    const { addresses, forwarding, standingOf, tokens } = this.#settings;
    const forwarded = forwarding.of(request.headers);
    const token = tokens.of(request, forwarded?.digest);
    return {
      token,
      standing: standingOf(token),
      client: { address: addresses.of(request), userAgent: request.headers['user-agent'] ?? null },
      forwarded,
    };
  }

  #answer(reply: HttpReply, isForeign: boolean, isWithin: boolean): MaybePromise<void> {
    const { origins, readiness, tokens } = this.#settings;
    const { request } = reply;
    if (readiness.phase === 'draining') reply.set('connection', 'close');
    setCorsHeaders(reply, origins, tokens.cookie !== null);
    if (this.#vary !== VARY) reply.set('vary', this.#vary);
    // Without its preflight a page could not read why its request is refused.
    const isPreflight = request.method === 'OPTIONS' && !isForeign;
    const mayPass = isPreflight || pathOf(request).startsWith('/health/');
    return isWithin || mayPass ? this.#route(reply, isForeign) : refuseFlood(reply);
  }

  closed(reply: HttpReply): void {
    const { accessLog, openConnections } = this.#settings;
    const { request, status, summary } = reply;
    const connection = openConnections.of(request.socket);
    connection.arrived();
    connection.underWay -= 1;
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
    if (summary === null) return;
    if (summary.trace) endRequestTrace(summary.trace, reply.isBegun ? status : null);
    // A client ends a subscription over SSE by leaving.
    const isLeft = reply.disconnected.aborted && summary.type !== 'subscription';
    if (isLeft) summary.worsen('gone');
    accessLog.ended(summary, reply.caller, status);
  }

  cutForPieces({ caller, request }: HttpReply): void {
    const { messages, metrics } = this.#settings;
    metrics.connectionsCut.inc({ reason: 'pieces' });
    messages.take(clientOf(caller), BYTES_OF_PIECES);
    request.socket.destroy();
  }

  failed(reply: HttpReply, error: unknown): void {
    const { requestId } = reply;
    reply.summary?.failed('INTERNAL', 'fault');
    this.#settings.log.error({ requestId, err: error }, 'a request failed');
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
}
