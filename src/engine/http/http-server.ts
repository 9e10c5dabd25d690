import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { addressClient } from '../../lib/limits/request-caller.ts';
import { listen } from '../../lib/listen.ts';
import { WebSocketEndpoint } from '../websocket/websocket-endpoint.ts';
import { HttpExchange } from './http-exchange.ts';
import { type RouteServices, Routes, toOriginForm, wantsWebSocket } from './routes.ts';

// How long a slow sender (slowloris) may occupy a connection.
const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  // Longer than the idle timeout of load balancers, which would otherwise send into a connection that is closing.
  keepAliveTimeout: 65_000,
};

/** The maximum of pipelined requests that wait on a connection. Node parses every request of one read. */
const MAX_WAITING = 32;

// An ordinary segment has 1,400 bytes; a sender that writes single lines sends a few dozen bytes at a time.
const FREE_PIECES = 1_024;
const BYTES_PER_PIECE = 128;

/** The public listener: accepts connections and requests within their bounds, and drains them in a shutdown. */
export class HttpServer {
  readonly webSockets: WebSocketEndpoint;
  readonly #services: RouteServices;
  readonly #server: Server;
  readonly #routes: Routes;

  constructor(services: RouteServices) {
    const { connections, openConnections, publicPath } = services;
    this.webSockets = new WebSocketEndpoint(services);
    this.#services = services;
    this.#routes = new Routes(services);
    // An upgrade is ignored while earlier requests are unanswered: the socket's first bytes would overtake their answers.
    const shouldUpgradeCallback = (request: IncomingMessage) =>
      openConnections.get(request.socket).underWay === 0 && wantsWebSocket(request, publicPath);
    this.#server = createServer({ ...TIMES, shouldUpgradeCallback }, (request, response) =>
      this.#handle(request, response),
    );
    this.#server.maxConnections = connections.most;
    this.#server.setTimeout(connections.unreadMs, (socket) => openConnections.timedOut(socket));
    this.#server.on('drop', () => services.errorMetrics.refusal('connections'));
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
    // Calls the `close` of `net`: that of an HTTP server would end the deadlines of requests that are still arriving.
    const stopped = new Promise((resolve) => NetServer.prototype.close.call(this.#server, resolve));
    this.#services.openConnections.drain();
    await stopped;
  }

  terminate(): void {
    this.webSockets.terminate();
    this.#server.closeAllConnections();
  }

  #accept(socket: Socket): void {
    const { addresses, errorMetrics, openConnections } = this.#services;
    openConnections.open(socket);
    // A trusted proxy's connections serve many clients, and the proxy limits them.
    if (addresses.isFromProxy({ socket })) return;
    if (openConnections.charge(socket, addressClient(addresses.peerOf(socket)))) return;
    errorMetrics.refusal('connections');
    socket.destroy();
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const { metrics, openConnections } = this.#services;
    const { socket } = request;
    // Node parses what it has read to the end, even from a destroyed socket.
    if (socket.destroyed) return;
    const connection = openConnections.get(socket);
    if (connection.waiting >= MAX_WAITING) {
      metrics.connectionsCut.inc({ reason: 'pipelined' });
      socket.resetAndDestroy();
      return;
    }
    connection.underWay += 1;
    const begin = () => {
      if (socket.destroyed) return;
      boundPieces(request);
      request.once('end', () => openConnections.requestArrived(connection));
      toOriginForm(request, this.#services.publicPath);
      const exchange = new HttpExchange(request, response, connection, this.#services);
      fireAndForget(
        'response',
        exchange.guard(() => this.#routes.answer(exchange)),
      );
    };
    if (response.socket !== null) {
      begin();
      return;
    }
    connection.waiting += 1;
    // Reads no further while requests wait: tiny pieces of their bodies would fill the memory. Node resumes the socket at
    // the end of each message, so it is paused after that.
    process.nextTick(() => {
      if (connection.waiting > 0) socket.pause();
    });
    // Node gives a pipelined request its socket when the client has taken the answers before it.
    response.once('socket', () => {
      connection.waiting -= 1;
      if (connection.waiting === 0) socket.resume();
      begin();
    });
  }
}

/**
 * Closes the connection if a body arrives in tiny pieces: a small piece costs as much as a large one. Its listener also
 * discards a body that no route reads.
 */
function boundPieces(request: IncomingMessage): void {
  let pieces = 0;
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    pieces += 1;
    bytes += piece.length;
    if (pieces > FREE_PIECES + bytes / BYTES_PER_PIECE) request.socket.destroy();
  });
}
