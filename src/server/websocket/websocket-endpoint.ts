import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ClientKeys } from '../../engine/client-key.ts';
import { tooComplex } from '../../engine/limits/limits.ts';
import { waiting } from '../../engine/request-quota.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TraceHeaders } from '../../lib/tracing/trace-context.ts';
import type { Trace } from '../../lib/tracing/tracing.ts';
import type { ClientNaming, RequestSummary } from '../../schema/request-summary.ts';
import type { LastingConnections } from '../closing-in-slices.ts';
import { isAllowedPage } from '../http/cors.ts';
import { bearerToken } from '../request/bearer.ts';
import { CLIENT_NAME, CLIENT_VERSION } from '../request/client-names.ts';
import { hasDoubledHeader } from '../request/doubled-headers.ts';
import { forwardedFrom, socketOperation, traceHeaders } from '../request/request-trace.ts';
import type { ServerSettings } from '../settings.ts';
import { FrameScratch } from './frame-writer.ts';
import { KeepAlive, type PingTarget } from './keep-alive.ts';
import { OperationStarts } from './operation-starts.ts';
import { PacedSocket } from './paced-socket.ts';
import type { SocketLimits, SocketPass } from './socket-limits.ts';
import { readMessage } from './subscribe-message.ts';

export interface WebSocketSettings extends ServerSettings {
  readonly clients: ClientKeys;
  readonly limits: SocketLimits;
  readonly onSocketClosed: (code: number) => void;
  /** Called where a client has too many sockets, before or after the upgrade. */
  readonly onSocketRefused: () => void;
  readonly clock: Clock;
  readonly pingMs: number;
  readonly silenceMs: number;
  /** The limit of in-flight operations on one socket, subscriptions included. */
  readonly maxOperations: number;
}

/** The state of one socket; graphql-ws carries it as `extra`. */
interface Connection extends PingTarget, Record<PropertyKey, unknown> {
  readonly paced: PacedSocket;
  readonly pass: SocketPass;
  readonly requestId: string | string[] | undefined;
  /** The upgrade's, to which operations are linked; or, where tracing is off, what is sent on of them. */
  readonly traceHeaders: TraceHeaders;
  readonly forwarded: Trace | undefined;
  /** The ids of operations other than subscriptions whose answer is still to be sent. */
  readonly inFlight: Set<string>;
  /** Of all operations that have not ended, by their ids. */
  readonly summaries: Map<string, RequestSummary>;
  client: ClientNaming | null;
  /** The size of the message that is handled now, and the request that it begins. */
  bytesIn: number;
  begun: RequestSummary | null;
}

/** An accepted upgrade request. */
interface AcceptedUpgrade {
  readonly stream: Socket;
  readonly address: string;
  readonly pass: SocketPass;
}

const SERVICE_RESTART = 1012;
const TRY_AGAIN_LATER = 1013;
const TOO_MANY_RETRY_SECONDS = 5;
const INIT_TIMEOUT_MS = 3_000;
// The limit of an HTTP request's headers.
const LONGEST_AUTHORIZATION = 16_384;
const LONGEST_ID = 255;

/** `graphql-transport-ws` over the engine. */
export class WebSocketEndpoint implements LastingConnections {
  readonly #settings: WebSocketSettings;
  readonly #server: WebSocketServer;
  readonly #keepAlive: KeepAlive;
  readonly #connections = new Map<WebSocket, Connection>();
  /** Those that the shutdown has not come to yet. */
  readonly #remaining = new Set<Connection>();
  readonly #starts = new OperationStarts();
  /** By the payload of its `subscribe` message, which no other operation has. */
  readonly #summaries = new WeakMap<object, RequestSummary>();
  readonly #scratch = new FrameScratch();
  #draining = false;

  constructor(settings: WebSocketSettings) {
    this.#settings = settings;
    this.#keepAlive = new KeepAlive(settings);
    this.#server = new WebSocketServer({
      noServer: true,
      // `#connections` does it.
      clientTracking: false,
      maxPayload: settings.maxBodyBytes,
      // Compressing each small update would take more memory than all else of a socket.
      perMessageDeflate: false,
      // Any subprotocol is accepted at first, or its client could not receive close code 4406.
      handleProtocols: (protocols) => handleProtocols(protocols) || ([...protocols][0] ?? false),
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
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
    const address = this.#settings.addresses.of(request);
    const pass = this.#settings.limits.enter(address);
    if (pass === null) {
      this.#settings.onSocketRefused();
      refuseUpgrade(socket, 429, 'Too Many Requests');
      return;
    }
    socket.once('close', onSocketClose(pass));
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#connected(webSocket, request, { stream: request.socket, address, pass }),
    );
  }

  get size(): number {
    return this.#connections.size;
  }

  get remaining(): number {
    return this.#remaining.size;
  }

  /** In-flight answers are sent first; clients reconnect elsewhere and resume their subscriptions. */
  closeOldest(count: number): void {
    let left = count;
    for (const connection of this.#remaining) {
      if (left === 0) return;
      left -= 1;
      this.#remaining.delete(connection);
      this.#closeIfIdle(connection);
    }
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
    if (this.#remaining.has(connection) || connection.inFlight.size > 0) return;
    connection.socket.close(SERVICE_RESTART, 'restarting');
  }

  #connected(
    socket: WebSocket,
    request: IncomingMessage,
    { stream, address, pass }: AcceptedUpgrade,
  ): void {
    const { log, clock, buffers } = this.#settings;
    const disconnected = new AbortController();
    const client = { address, userAgent: request.headers['user-agent'] ?? null };
    const caller = { token: null, signal: disconnected.signal, client };
    const paced = new PacedSocket({ socket, stream, caller, buffers, scratch: this.#scratch });
    const connection: Connection = {
      socket,
      paced,
      pass,
      requestId: request.headers['x-request-id'],
      ...this.#traceOf(request),
      inFlight: new Set(),
      summaries: new Map(),
      client: this.#settings.clientNames.fromHeaders(request.headers),
      bytesIn: 0,
      begun: null,
      lastReceivedAtMs: clock.now(),
    };
    this.#connections.set(socket, connection);
    this.#remaining.add(connection);
    const leaveKeepAlive = this.#keepAlive.join(connection);
    const opened = this.#protocol.opened(
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
            connection.lastReceivedAtMs = clock.now();
            paced.received();
            const text = String(data);
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
    socket.on('pong', () => {
      connection.lastReceivedAtMs = clock.now();
    });
    // A frame is too large or malformed: `ws` has closed the socket with the right code already.
    socket.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
    socket.once('close', (code, reason) => {
      leaveKeepAlive();
      this.#settings.onSocketClosed(code);
      this.#connections.delete(socket);
      this.#remaining.delete(connection);
      disconnected.abort();
      paced.unread.release();
      void opened(code, String(reason));
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

  readonly #protocol = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: INIT_TIMEOUT_MS,
    onConnect: (context) => {
      const { extra } = context;
      const params = context.connectionParams;
      const authorization = textIn(params, 'authorization');
      if (authorization.length > LONGEST_AUTHORIZATION) return false;
      const hashed = bearerToken(authorization);
      extra.paced.caller = { ...extra.paced.caller, token: hashed?.token ?? null, hashed };
      const { clientNames } = this.#settings;
      extra.client ??= clientNames.of(textIn(params, CLIENT_NAME), textIn(params, CLIENT_VERSION));
      // graphql-ws would retain the payload of `connection_init`, however large, for the socket's lifetime.
      Object.assign(context, { connectionParams: undefined });
      return true;
    },
    onSubscribe: async ({ extra, subscriptions }, id, payload) => {
      const summary = this.#begin(extra);
      extra.begun = summary;
      const refuse = (error: GraphQLError) => {
        this.#settings.engine.refused([error], summary);
        return this.#refused(summary, extra, [error]);
      };
      // The id is retained as long as its operation lasts.
      if (id.length > LONGEST_ID) {
        return refuse(tooComplex('characters of an id', id.length, LONGEST_ID));
      }
      const { maxOperations } = this.#settings;
      const open = Object.keys(subscriptions).length;
      if (open > maxOperations) {
        return refuse(tooComplex('operations of a socket', open, maxOperations));
      }
      if (!this.#claim(extra)) return refuse(waiting(TOO_MANY_RETRY_SECONDS, 'sockets').error);
      extra.inFlight.add(id);
      await extra.paced.room();
      if (!extra.paced.isOpen)
        return refuse(waiting(TOO_MANY_RETRY_SECONDS, 'unread answers').error);
      const { requestId } = summary;
      const trace = this.#settings.tracing?.receive(socketOperation(extra.traceHeaders)) ?? null;
      summary.trace = trace;
      const operation = await this.#settings.engine.open(payload, {
        caller: { ...extra.paced.caller, requestId, trace: extra.forwarded },
        requestId,
        summary,
        mayMutate: true,
        trace,
      });
      if (!operation.ready || operation.operation === 'subscription') this.#settled(extra, id);
      if (!operation.ready) return this.#refused(summary, extra, operation.errors);
      extra.summaries.set(id, summary);
      this.#summaries.set(payload, summary);
      return this.#starts.prepare(operation, extra.paced, id, summary);
    },
    execute: (args) => this.#starts.start(args),
    subscribe: (args) => this.#starts.start(args),
    onOperation: ({ extra }, _id, payload) => {
      // Starting a subscription proves its token, so the socket's account is known now.
      this.#claim(extra);
      const summary = this.#summaries.get(payload);
      if (summary?.type === 'subscription' && summary.outcome === 'ok') {
        this.#settings.accessLog.subscribed(summary, extra.paced.caller);
      }
    },
    onComplete: ({ extra }, id, payload) => {
      this.#settled(extra, id);
      this.#ended(extra, id, payload);
    },
    onError: ({ extra }, id, payload) => this.#ended(extra, id, payload),
  });

  #traceOf(request: IncomingMessage): Pick<Connection, 'traceHeaders' | 'forwarded'> {
    const { tracing, addresses } = this.#settings;
    return tracing === null
      ? { traceHeaders: {}, forwarded: forwardedFrom(request, addresses) }
      : { traceHeaders: traceHeaders(request), forwarded: undefined };
  }

  #begin({ requestId, client, bytesIn }: Connection): RequestSummary {
    const { accessLog, requestIds } = this.#settings;
    return accessLog.begin({
      requestId: requestIds.from(requestId),
      transport: 'websocket',
      method: null,
      client,
      bytesIn,
    });
  }

  #refused(
    summary: RequestSummary,
    { paced }: Connection,
    errors: readonly GraphQLError[],
  ): readonly GraphQLError[] {
    this.#settings.accessLog.ended(summary, paced.caller, null);
    return errors;
  }

  /** A client that has left had no answer, unless it was a subscription's. */
  #ended({ summaries, paced }: Connection, id: string, payload: object): void {
    const summary = this.#summaries.get(payload);
    if (summary === undefined) return;
    // The client may have begun another operation under the same id.
    if (summaries.get(id) === summary) summaries.delete(id);
    if (!paced.isOpen && summary.type !== 'subscription') summary.worsen('gone');
    // The last message of the operation is sent in this turn of the event loop.
    setImmediate(() => this.#settings.accessLog.ended(summary, paced.caller, null));
  }

  #settled(connection: Connection, id: string): void {
    if (!connection.inFlight.delete(id)) return;
    // Deferred, so that the close follows the protocol's last message.
    setImmediate(() => this.#closeIfIdle(connection));
  }

  /** False where the account has too many sockets, and this one is closed. */
  #claim({ pass, socket, paced }: Connection): boolean {
    if (pass.isClaimed) return true;
    const { kind, key } = this.#settings.clients.of(paced.caller);
    if (kind !== 'account' || pass.claim(key)) return true;
    socket.close(TRY_AGAIN_LATER, 'Too many sockets');
    return false;
  }
}

/** A function of its own, because a closure would retain the request as long as the socket lives. */
function onSocketClose(pass: SocketPass): () => void {
  return () => pass.leave();
}

/** A text of `connectionParams`, or an empty one. Client libraries differ in the case of the key. */
function textIn(params: unknown, name: string): string {
  if (typeof params !== 'object' || params === null) return '';
  const entry = Object.entries(params).find(([key]) => key.toLowerCase() === name);
  return typeof entry?.[1] === 'string' ? entry[1] : '';
}

const RESULT = /^\{"id":"([^"\\]{1,255})","type":"next"/;

/** The id of the operation whose result a message of the protocol carries. */
function resultIdOf(message: string): string | null {
  return RESULT.exec(message)?.[1] ?? null;
}

function refuseUpgrade(socket: Duplex, status: number, reason: string): void {
  socket.on('error', () => {});
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
