import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CloseCode, handleProtocols } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../lib/clock.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import { type Slot, takeSlot } from '../../lib/limits/slot.ts';
import { MEMORY_RETRY_SECONDS } from '../../plugins/limits/use-memory-limit.ts';
import { LastingConnections } from '../closing-in-slices.ts';
import { isAllowedPage } from '../http/cors.ts';
import { hasDoubledHeader } from '../request/doubled-headers.ts';
import type { RequestSummary } from '../request/request-summary.ts';
import { forwardedFrom, traceHeaders } from '../request/request-trace.ts';
import { FrameScratch } from './frame-writer.ts';
import { KeepAlive } from './keep-alive.ts';
import { PacedSocket } from './paced-socket.ts';
import {
  acceptableOffer,
  PER_MESSAGE_DEFLATE,
  UnpackedSizes,
  unpackAtOnce,
} from './packed-messages.ts';
import { isOfTooManyPieces, LARGEST_IN_PIECES, SenderWatch } from './sender-watch.ts';
import { type Connection, type OperationSettings, SocketOperations } from './socket-operations.ts';
import { readMessage } from './subscribe-message.ts';

interface WebSocketSettings extends OperationSettings {
  readonly limiter: Limiter;
  readonly onSocketClosed: (code: number) => void;
  /** Called where a client has too many sockets, before or after the upgrade. */
  readonly onSocketRefused: () => void;
  readonly isMemoryShort: () => boolean;
  /** Called where a socket is refused because memory is short. */
  readonly onMemoryShort: () => void;
  /** Best a steady one: only durations are measured. */
  readonly clock: Clock;
  readonly pingMs: number;
  readonly silenceMs: number;
  readonly longestHeartbeatMs: number;
}

/** An accepted upgrade request. */
interface AcceptedUpgrade {
  readonly stream: Socket;
  /** The bytes that came behind the request. */
  readonly head: Buffer;
  readonly address: string;
  readonly slot: Slot;
}

const MESSAGE_TOO_BIG = 1009;
const SERVICE_RESTART = 1012;
const NOTHING = Buffer.alloc(0);

/** The WebSockets: accepts upgrades, keeps the connections alive and closes them in a shutdown. */
export class WebSocketEndpoint {
  readonly #settings: WebSocketSettings;
  readonly #server: WebSocketServer;
  readonly #keepAlive: KeepAlive;
  readonly #connections = new Map<WebSocket, Connection>();
  /** In-flight answers are sent before a socket is closed. */
  readonly lasting = new LastingConnections<Connection>((each) => this.#closeIfIdle(each));
  readonly #operations: SocketOperations;
  readonly #scratch = new FrameScratch();
  #draining = false;

  constructor(settings: WebSocketSettings) {
    this.#settings = settings;
    this.#keepAlive = new KeepAlive(settings);
    this.#operations = new SocketOperations(settings, {
      answered: (connection) => this.#closeIfIdle(connection),
      sentEvent: (connection) => this.#keepAlive.sentEvent(connection),
    });
    this.#server = new WebSocketServer({
      noServer: true,
      // `#connections` does it.
      clientTracking: false,
      maxPayload: settings.maxBodyBytes,
      ...LARGEST_IN_PIECES,
      perMessageDeflate: PER_MESSAGE_DEFLATE,
      // Any subprotocol is accepted at first, or its client could not receive close code 4406.
      handleProtocols: (protocols) => handleProtocols(protocols) || ([...protocols][0] ?? false),
    });
  }

  /** `held`: the slot of the connection; null where it comes from a trusted proxy, so that this is another's. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, held: Slot | null): void {
    if (hasDoubledHeader(request.rawHeaders)) {
      refuseUpgrade(socket, 400, 'Bad Request');
      return;
    }
    if (!isAllowedPage(request, this.#settings.origins)) {
      refuseUpgrade(socket, 403, 'Forbidden');
      return;
    }
    if (this.#draining) {
      refuseUpgrade(socket, 503, 'Service Unavailable');
      return;
    }
    // With a body `ws` would not read the connection itself.
    if (socket !== request.socket) {
      refuseUpgrade(socket, 400, 'Bad Request');
      return;
    }
    const { addresses, clientOf, limiter } = this.#settings;
    const address = addresses.of(request);
    const caller = { token: null, client: { address, userAgent: null } };
    if (this.#settings.countMessage(caller, 0, 'upgrades') !== 'within') {
      refuseUpgrade(socket, 429, 'Too Many Requests');
      return;
    }
    if (this.#settings.isMemoryShort()) {
      this.#settings.onMemoryShort();
      refuseUpgrade(socket, 503, 'Service Unavailable', MEMORY_RETRY_SECONDS);
      return;
    }
    const slot = held ?? takeSlot(limiter, 'connections', () => clientOf(caller));
    if (slot === null) {
      this.#settings.onSocketRefused();
      refuseUpgrade(socket, 429, 'Too Many Requests');
      return;
    }
    socket.once('close', slot.release);
    const { headers } = request;
    headers['sec-websocket-extensions'] = acceptableOffer(headers['sec-websocket-extensions']);
    this.#server.handleUpgrade(request, socket, NOTHING, (webSocket) =>
      this.#connected(webSocket, request, { stream: request.socket, head, address, slot }),
    );
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Accepts no more sockets, and waits until those that the caller closes are closed. */
  async drain(): Promise<void> {
    this.#draining = true;
    const closed = [...this.#connections.keys()].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    await Promise.all(closed);
  }

  terminate(): void {
    for (const socket of this.#connections.keys()) socket.terminate();
  }

  #closeIfIdle(connection: Connection): void {
    if (this.lasting.has(connection) || connection.inFlight.size > 0) return;
    connection.socket.close(SERVICE_RESTART, 'restarting');
  }

  #connected(
    socket: WebSocket,
    request: IncomingMessage,
    { stream, head, address, slot }: AcceptedUpgrade,
  ): void {
    const { clientOf, log, clock, buffers, received, countMessage, maxBodyBytes } = this.#settings;
    const sizes = new UnpackedSizes(maxBodyBytes);
    unpackAtOnce(socket, maxBodyBytes);
    const disconnected = new AbortController();
    const client = { address, userAgent: request.headers['user-agent'] ?? null };
    const caller = { token: null, signal: disconnected.signal, client };
    const paced = new PacedSocket({ socket, stream, caller, buffers, scratch: this.#scratch });
    slot.owner = () => clientOf(paced.caller);
    const connection: Connection = {
      socket,
      paced,
      slot,
      requestId: request.headers['x-request-id'],
      ...this.#traceOf(request),
      inFlight: new Set(),
      summaries: new Map(),
      client: this.#settings.clientNames.fromHeaders(request.headers),
      bytesIn: 0,
      begun: null,
      lastReceivedAtMs: clock.now(),
      unansweredPings: 0,
      lastEventAtMs: Number.NEGATIVE_INFINITY,
      lastPingAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#connections.set(socket, connection);
    this.lasting.add(connection);
    const leaveKeepAlive = this.#keepAlive.join(connection);
    const notifyClosed = this.#operations.serve(
      {
        protocol: socket.protocol,
        send: (text) => {
          const id = resultIdOf(text);
          if (id !== null) connection.summaries.get(id)?.sent(Buffer.byteLength(text));
          return paced.send(text);
        },
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => {
          socket.on('message', (data) => {
            // The answer could no longer be sent, so the operation is not begun.
            if (socket.readyState !== socket.OPEN) return;
            this.#keepAlive.received(connection);
            paced.received();
            const text = String(data);
            if (sizes.isInflated(text.length, stream.bytesRead)) {
              socket.close(MESSAGE_TOO_BIG, 'Messages unpack to too much');
              return;
            }
            connection.bytesIn = text.length;
            connection.begun = null;
            const handled = handle(readMessage(text));
            // Begun in this turn of the event loop, so it is no other message's.
            const { begun } = connection;
            handled.catch((error: unknown) => this.#failed(connection, begun, error));
          });
        },
      },
      connection,
    );
    socket.on('pong', () => this.#keepAlive.received(connection));
    const buffer = received.of(stream);
    buffer.upgraded(head, new SenderWatch({ socket, paced, buffer, received, countMessage }));
    // A frame is too large or malformed: `ws` has closed the socket with the right code already.
    socket.on('error', (error) => {
      log.debug({ err: error }, 'a WebSocket failed');
      if (isOfTooManyPieces(error)) received.cut(buffer, 'pieces');
    });
    socket.once('close', (code, reason) => {
      leaveKeepAlive();
      this.#settings.onSocketClosed(code);
      this.#connections.delete(socket);
      this.lasting.delete(connection);
      disconnected.abort();
      paced.unread.release();
      void notifyClosed(code, String(reason));
    });
  }

  /** A message that only a server may send is the client's mistake, and not logged as an error. */
  #failed({ paced }: Connection, begun: RequestSummary | null, error: unknown): void {
    const { socket } = paced;
    // So is a ping whose payload nests too deep to be echoed.
    const isClients = error instanceof Error && error.message.startsWith('Unexpected message');
    if (begun === null && (isClients || error instanceof RangeError)) {
      socket.close(CloseCode.BadRequest, 'Invalid message received');
      return;
    }
    const { log, accessLog } = this.#settings;
    log.error(
      { err: error, requestId: begun?.requestId },
      'a WebSocket message could not be handled',
    );
    // graphql-ws calls no hook for an operation that throws.
    begun?.failed('INTERNAL', false);
    if (begun !== null) accessLog.ended(begun, paced.caller, null);
    socket.close(CloseCode.InternalServerError, 'Internal server error');
  }

  #traceOf(request: IncomingMessage): Pick<Connection, 'traceHeaders' | 'forwarded'> {
    const { tracing, addresses } = this.#settings;
    return tracing === null
      ? { traceHeaders: {}, forwarded: forwardedFrom(request, addresses) }
      : { traceHeaders: traceHeaders(request), forwarded: undefined };
  }
}

const RESULT = /^\{"id":"([^"\\]{1,255})","type":"next"/;

/** The id of the operation whose result a message of the protocol carries. */
function resultIdOf(message: string): string | null {
  return RESULT.exec(message)?.[1] ?? null;
}

function refuseUpgrade(socket: Duplex, status: number, reason: string, retryAfter?: number): void {
  socket.on('error', () => {});
  // Node has given the connection away with all its deadlines: one that its client keeps open would stay.
  socket.once('finish', () => socket.destroy());
  const retry = retryAfter === undefined ? '' : `retry-after: ${retryAfter}\r\n`;
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nconnection: close\r\n${retry}content-length: 0\r\n\r\n`,
  );
}
