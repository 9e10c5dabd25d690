import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ClientKeys } from '../engine/client-key.ts';
import { tooComplex } from '../engine/limits/limits.ts';
import { waiting } from '../engine/request-quota.ts';
import type { Clock } from '../lib/clock.ts';
import { Departure } from '../lib/departure.ts';
import { bearerToken } from './bearer.ts';
import { asArguments, begin } from './begin-operation.ts';
import { mayUpgrade } from './cors.ts';
import { hasDoubledHeader } from './doubled-headers.ts';
import { KeepAlive, type Line } from './keep-alive.ts';
import { PacedSocket } from './paced-socket.ts';
import { requestIdFrom } from './request-id.ts';
import type { ServerSettings } from './settings.ts';
import type { SocketLimits, SocketPass } from './socket-limits.ts';
import { readMessage } from './subscribe-message.ts';

export interface WebSocketSettings extends ServerSettings {
  readonly clients: ClientKeys;
  readonly limits: SocketLimits;
  readonly clock: Clock;
  readonly pingMs: number;
  /** How long a socket may be silent before it is cut. */
  readonly silenceMs: number;
  /** Subscriptions and other operations under way at one time on one socket. */
  readonly maxOperations: number;
}

/** One socket and who is at the other end of it. */
interface Connection extends Line, Record<PropertyKey, unknown> {
  readonly paced: PacedSocket;
  readonly pass: SocketPass;
  readonly requestId: string | string[] | undefined;
  /** Operations other than subscriptions, whose answer is still to be sent. */
  readonly underWay: Set<string>;
}

/** What a socket has come with. */
interface Entrance {
  readonly stream: Socket;
  readonly address: string;
  readonly pass: SocketPass;
}

const SERVICE_RESTART = 1012;
const TRY_AGAIN_LATER = 1013;
const TOO_MANY_RETRY_SECONDS = 5;
const INIT_TIMEOUT_MS = 3_000;
// What the head of an HTTP request has room for.
const LONGEST_AUTHORIZATION = 16_384;
const LONGEST_ID = 255;

/** `graphql-transport-ws` over the engine. */
export class WebSocketEndpoint {
  readonly #settings: WebSocketSettings;
  readonly #server: WebSocketServer;
  readonly #keepAlive: KeepAlive;
  readonly #connections = new Map<WebSocket, Connection>();
  #draining = false;

  constructor(settings: WebSocketSettings) {
    this.#settings = settings;
    this.#keepAlive = new KeepAlive(settings);
    this.#server = new WebSocketServer({
      noServer: true,
      // They are in `#connections`.
      clientTracking: false,
      maxPayload: settings.maxBodyBytes,
      // Compressing each small update costs more memory than all else of a socket.
      perMessageDeflate: false,
      // Another protocol is agreed to as well, or its client could not be told 4406.
      handleProtocols: (protocols) => handleProtocols(protocols) || ([...protocols][0] ?? false),
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (hasDoubledHeader(request.rawHeaders)) {
      refuseUpgrade(socket, 400, 'Bad Request');
      return;
    }
    if (!mayUpgrade(request, this.#settings.origins)) {
      refuseUpgrade(socket, 403, 'Forbidden');
      return;
    }
    if (this.#draining) {
      refuseUpgrade(socket, 503, 'Service Unavailable');
      return;
    }
    const address = this.#settings.addresses.of(request);
    const pass = this.#settings.limits.enter(address);
    if (pass === null) {
      refuseUpgrade(socket, 429, 'Too Many Requests');
      return;
    }
    socket.once('close', leaving(pass));
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#connected(webSocket, request, { stream: request.socket, address, pass }),
    );
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Answers under way are sent first; subscriptions go on elsewhere when their clients reconnect. */
  async drain(): Promise<void> {
    this.#draining = true;
    const connections = [...this.#connections.values()];
    const closed = connections.map(
      ({ socket }) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    for (const connection of connections) this.#closeIfIdle(connection);
    await Promise.all(closed);
  }

  terminate(): void {
    for (const socket of this.#connections.keys()) socket.terminate();
  }

  #closeIfIdle({ socket, underWay }: Connection): void {
    if (!this.#draining || underWay.size > 0) return;
    socket.close(SERVICE_RESTART, 'restarting');
  }

  #connected(
    socket: WebSocket,
    request: IncomingMessage,
    { stream, address, pass }: Entrance,
  ): void {
    const { log, clock, buffers } = this.#settings;
    const gone = new Departure();
    const client = { address, userAgent: request.headers['user-agent'] ?? null };
    const caller = { token: null, signal: gone, client };
    const paced = new PacedSocket(socket, stream, caller, buffers);
    const connection: Connection = {
      socket,
      paced,
      pass,
      requestId: request.headers['x-request-id'],
      underWay: new Set(),
      lastReceivedAtMs: clock.now(),
    };
    this.#connections.set(socket, connection);
    const leaveKeepAlive = this.#keepAlive.join(connection);
    const opened = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => paced.send(text),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (heard) => {
          socket.on('message', (data) => {
            // Its answer could not be sent any more, so what it asks for is not begun either.
            if (socket.readyState !== socket.OPEN) return;
            connection.lastReceivedAtMs = clock.now();
            paced.heard();
            heard(readMessage(String(data))).catch((error: unknown) => this.#failed(socket, error));
          });
        },
      },
      connection,
    );
    socket.on('pong', () => {
      connection.lastReceivedAtMs = clock.now();
    });
    // A frame that is too large or broken: `ws` has closed the socket with its code already.
    socket.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
    socket.once('close', (code, reason) => {
      leaveKeepAlive();
      this.#connections.delete(socket);
      gone.abort();
      paced.unread.release();
      void opened(code, String(reason));
    });
  }

  /** A message that only a server sends is the client's mistake, and no line in the log of errors. */
  #failed(socket: WebSocket, error: unknown): void {
    // One that nests too deep to be sent back, as a ping's payload is, is one too.
    const isClients = error instanceof Error && error.message.startsWith('Unexpected message');
    if (isClients || error instanceof RangeError) {
      socket.close(CloseCode.BadRequest, 'Invalid message received');
      return;
    }
    this.#settings.log.error({ err: error }, 'a WebSocket message could not be handled');
    socket.close(CloseCode.InternalServerError, 'Internal server error');
  }

  readonly #protocol = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: INIT_TIMEOUT_MS,
    onConnect: (context) => {
      const { extra } = context;
      const authorization = authorizationOf(context.connectionParams);
      if (authorization.length > LONGEST_AUTHORIZATION) return false;
      extra.paced.caller = { ...extra.paced.caller, token: bearerToken(authorization) };
      // The library would hold the greeting, as large as it may be, for the socket's whole life.
      Object.assign(context, { connectionParams: undefined });
      return true;
    },
    onSubscribe: async ({ extra, subscriptions }, id, payload) => {
      // It is held as long as its operation lasts.
      if (id.length > LONGEST_ID) return [tooComplex('characters of an id', id.length, LONGEST_ID)];
      const { maxOperations } = this.#settings;
      const open = Object.keys(subscriptions).length;
      if (open > maxOperations) return [tooComplex('operations of a socket', open, maxOperations)];
      if (!this.#claim(extra)) return [waiting(TOO_MANY_RETRY_SECONDS).error];
      extra.underWay.add(id);
      await extra.paced.room();
      if (!extra.paced.isOpen) return [waiting(TOO_MANY_RETRY_SECONDS).error];
      const operation = await this.#settings.engine.open(payload, {
        caller: extra.paced.caller,
        requestId: requestIdFrom(extra.requestId),
        mayMutate: true,
      });
      if (!operation.ready || operation.operation === 'subscription') this.#settled(extra, id);
      return operation.ready ? asArguments(operation, extra.paced, id) : operation.errors;
    },
    execute: begin,
    subscribe: begin,
    onOperation: ({ extra }) => {
      // A subscription proves its token, so that now it is known whose socket this is.
      this.#claim(extra);
    },
    onComplete: ({ extra }, id) => this.#settled(extra, id),
  });

  #settled(connection: Connection, id: string): void {
    if (!connection.underWay.delete(id)) return;
    // One turn later, behind the protocol's own last message.
    setImmediate(() => this.#closeIfIdle(connection));
  }

  /** False where the account has too many sockets: then this one is closed. */
  #claim({ pass, socket, paced }: Connection): boolean {
    if (pass.isClaimed) return true;
    const { kind, key } = this.#settings.clients.of(paced.caller);
    if (kind !== 'account' || pass.claim(key)) return true;
    socket.close(TRY_AGAIN_LATER, 'Too many sockets');
    return false;
  }
}

/** Made apart from the request, which would be kept as long as the socket otherwise. */
function leaving(pass: SocketPass): () => void {
  return () => pass.leave();
}

/** Client libraries differ in how they write the key. */
function authorizationOf(params: unknown): string {
  if (typeof params !== 'object' || params === null) return '';
  const entry = Object.entries(params).find(([key]) => key.toLowerCase() === 'authorization');
  return typeof entry?.[1] === 'string' ? entry[1] : '';
}

function refuseUpgrade(socket: Duplex, status: number, reason: string): void {
  socket.on('error', () => {});
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
