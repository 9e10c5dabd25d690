import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CloseCode, handleProtocols } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { mayHoldInexact, parseExactJson } from '../../lib/exact-json.ts';
import { type Slot, takeSlot } from '../../lib/limits/slot.ts';
import { LastingConnections } from '../http/closing-in-slices.ts';
import { isAllowedPage } from '../http/cors.ts';
import { MEMORY_RETRY_SECONDS } from '../limits/use-memory-limit.ts';
import { stopAtBrokenFrame } from '../private-fields.ts';
import { hasDoubledHeader } from '../request/doubled-headers.ts';
import type { RequestSummary } from '../request/request-summary.ts';
import type { ServerSettings } from '../server-settings.ts';
import { Connection } from './connection.ts';
import { FrameScratch } from './frame-writer.ts';
import { KeepAlive } from './keep-alive.ts';
import {
  acceptableOffer,
  PER_MESSAGE_DEFLATE,
  UnpackedSizes,
  unpackAtOnce,
} from './packed-messages.ts';
import { LARGEST_IN_PIECES, PIECES_ERROR, SenderWatch } from './sender-watch.ts';
import { SocketOperations } from './socket-operations.ts';

const MESSAGE_TOO_BIG = 1009;
const SERVICE_RESTART = 1012;
const NOTHING = Buffer.alloc(0);

/** The WebSockets: accepts upgrades, keeps the connections alive and closes them in a shutdown. */
export class WebSocketEndpoint {
  readonly #settings: ServerSettings;
  readonly #isMemoryShort: () => boolean;
  readonly #server: WebSocketServer;
  readonly #keepAlive: KeepAlive;
  readonly #connections = new Map<WebSocket, Connection>();
  /** In-flight answers are sent before a socket is closed. */
  readonly lasting = new LastingConnections<Connection>((each) => this.#closeIfIdle(each));
  readonly #operations: SocketOperations;
  readonly #scratch = new FrameScratch();
  #draining = false;

  constructor(settings: ServerSettings, isMemoryShort: () => boolean) {
    this.#settings = settings;
    this.#isMemoryShort = isMemoryShort;
    this.#keepAlive = new KeepAlive(settings.clock, settings.pingMs, settings.longestHeartbeatMs);
    this.#operations = new SocketOperations(settings, this.#keepAlive, (connection) =>
      this.#closeIfIdle(connection),
    );
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
    const slot = this.#refusalOf(request, socket) ?? this.#slotFor(request, held);
    if ('status' in slot) {
      refuseUpgrade(socket, slot);
      return;
    }
    socket.once('close', slot.release);
    const { headers } = request;
    headers['sec-websocket-extensions'] = acceptableOffer(headers['sec-websocket-extensions']);
    this.#server.handleUpgrade(request, socket, NOTHING, (webSocket) =>
      this.#connected(webSocket, request, head, slot),
    );
  }

  #refusalOf(request: IncomingMessage, socket: Duplex): UpgradeRefusal | null {
    const { addresses, countMessage, origins, refused } = this.#settings;
    if (hasDoubledHeader(request.rawHeaders)) return BAD_REQUEST;
    if (!isAllowedPage(request, origins)) return { status: '403 Forbidden' };
    if (this.#draining) return { status: UNAVAILABLE };
    // With a body `ws` would not read the connection itself.
    if (socket !== request.socket) return BAD_REQUEST;
    if (countMessage(addresses.caller(request), 0, 'upgrades') !== 'within') {
      refused('messages');
      return TOO_MANY;
    }
    if (!this.#isMemoryShort()) return null;
    refused('memory');
    return { status: UNAVAILABLE, retryAfter: MEMORY_RETRY_SECONDS };
  }

  #slotFor(request: IncomingMessage, held: Slot | null): Slot | UpgradeRefusal {
    const { addresses, clientOf, limiter, refused } = this.#settings;
    const owner = () => clientOf(addresses.caller(request));
    const slot = held ?? takeSlot(limiter, 'connections', owner);
    if (slot !== null) return slot;
    refused('sockets');
    return TOO_MANY;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Accepts no more sockets. The caller closes the others, and the HTTP server waits for their connections. */
  drain(): void {
    this.#draining = true;
  }

  terminate(): void {
    for (const socket of this.#connections.keys()) socket.terminate();
  }

  #closeIfIdle(connection: Connection): void {
    if (this.lasting.has(connection) || connection.inFlight.size > 0) return;
    connection.socket.close(SERVICE_RESTART, 'restarting');
  }

  #connected(socket: WebSocket, request: IncomingMessage, head: Buffer, slot: Slot): void {
    const { log, received, maxBodyBytes, metrics } = this.#settings;
    const sizes = new UnpackedSizes(maxBodyBytes);
    stopAtBrokenFrame(socket);
    unpackAtOnce(socket, maxBodyBytes);
    const connection = new Connection(socket, request, slot, this.#scratch, this.#settings);
    const { stream } = connection;
    const buffer = received.of(stream);
    const watch = new SenderWatch(connection, buffer, this.#settings);
    this.#connections.set(socket, connection);
    this.lasting.add(connection);
    const leaveKeepAlive = this.#keepAlive.join(connection);
    const notifyClosed = this.#operations.serve(
      {
        protocol: socket.protocol,
        send: (text) => {
          const id = resultIdOf(text);
          if (id !== null) connection.summaries.get(id)?.sent(Buffer.byteLength(text));
          return connection.send(text);
        },
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => {
          socket.on('message', (data) => {
            // The answer could no longer be sent, so the operation is not begun.
            if (socket.readyState !== socket.OPEN) return;
            this.#keepAlive.received(connection);
            connection.received();
            const text = String(data);
            if (sizes.isInflated(text.length, stream.bytesRead)) {
              socket.close(MESSAGE_TOO_BIG, 'Messages unpack to too much');
              return;
            }
            if (!watch.unpacked(text.length)) return;
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
    buffer.address = connection.caller.client?.address ?? '';
    buffer.upgraded(head, watch);
    // A frame is too large or malformed: `ws` has closed the socket with the right code already.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      log.debug({ err: error }, 'a WebSocket failed');
      if (error.code === PIECES_ERROR) received.cut(buffer, 'pieces');
    });
    socket.once('close', (code, reason) => {
      leaveKeepAlive();
      metrics.socketClosed(code);
      this.#connections.delete(socket);
      this.lasting.delete(connection);
      connection.closed();
      void notifyClosed(code, String(reason));
    });
  }

  /** A message that only a server may send is the client's mistake, and not logged as an error. */
  #failed({ socket, caller }: Connection, begun: RequestSummary | null, error: unknown): void {
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
    begun?.failed('INTERNAL', 'fault');
    if (begun !== null) accessLog.ended(begun, caller, null);
    socket.close(CloseCode.InternalServerError, 'Internal server error');
  }
}

const RESULT = /^\{"id":"([^"\\]{1,255})","type":"next"/;

/** The id of the operation whose result a message of the protocol carries. */
function resultIdOf(message: string): string | null {
  return RESULT.exec(message)?.[1] ?? null;
}

interface UpgradeRefusal {
  readonly status: string;
  readonly retryAfter?: number;
}

const BAD_REQUEST: UpgradeRefusal = { status: '400 Bad Request' };
const TOO_MANY: UpgradeRefusal = { status: '429 Too Many Requests' };
const UNAVAILABLE = '503 Service Unavailable';

function refuseUpgrade(socket: Duplex, { status, retryAfter }: UpgradeRefusal): void {
  socket.on('error', () => {});
  // Node has given the connection away with all its deadlines: one that its client keeps open would stay.
  socket.once('finish', () => socket.destroy());
  const retry = retryAfter === undefined ? '' : `retry-after: ${retryAfter}\r\n`;
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n${retry}content-length: 0\r\n\r\n`);
}

const NAMES_A_DOCUMENT = /"(?:documentId|persistedQuery)"/;
const UNREADABLE = '';

interface Message {
  readonly type?: unknown;
  readonly payload?: unknown;
}

/**
 * Reads a message for graphql-ws, which parses nearly all of them by itself. But it refuses an
 * operation without a document, although a document id may stand for one, and it rounds numbers.
 */
function readMessage(text: string): string {
  const namesDocument = NAMES_A_DOCUMENT.test(text);
  if (!namesDocument && !mayHoldInexact(text)) return text;
  const message = parsed(text);
  // The library reports the errors of any other message, and echoes a ping as it came.
  if (message === null) return UNREADABLE;
  if (message.type !== 'subscribe') return text;
  const { payload } = message;
  if (namesDocument && isWithoutText(payload)) payload.query = '';
  // The library accepts a parsed message; its types only know strings.
  return message as unknown as string;
}

function parsed(text: string): Message | null {
  try {
    return parseExactJson(text) as Message | null;
  } catch {
    return null;
  }
}

function isWithoutText(payload: unknown): payload is { query?: unknown } {
  return (
    typeof payload === 'object' &&
    payload !== null &&
    (payload as { query?: unknown }).query == null
  );
}
