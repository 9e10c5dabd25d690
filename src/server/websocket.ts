import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { TokenEndedError } from '../domain/positions/token-ended-error.ts';
import type { Ready } from '../engine/engine.ts';
import { tooComplex } from '../engine/limits.ts';
import type { Caller } from '../gateway/caller.ts';
import { mapStream } from '../lib/map-stream.ts';
import { bearerToken } from './bearer.ts';
import { mayUpgrade } from './cors.ts';
import { requestIdFrom } from './request-id.ts';
import type { ServerSettings } from './settings.ts';

export interface WebSocketSettings extends ServerSettings {
  readonly pingMs: number;
  /** Subscriptions and other operations under way at one time on one socket. */
  readonly maxOperations: number;
}

interface Connection extends Record<PropertyKey, unknown> {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  readonly gone: AbortController;
}

const SERVICE_RESTART = 1012;
const INIT_TIMEOUT_MS = 3_000;

/** `graphql-transport-ws` over the engine. */
export class WebSocketDoor {
  readonly #settings: WebSocketSettings;
  readonly #server: WebSocketServer;
  /** Operations whose answer is still to be sent. */
  readonly #underWay = new WeakMap<WebSocket, Set<string>>();
  #draining = false;

  constructor(settings: WebSocketSettings) {
    this.#settings = settings;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: settings.maxBodyBytes,
      // Compressing each small update costs more memory than all else of a socket.
      perMessageDeflate: false,
      handleProtocols: (protocols) => handleProtocols(protocols),
    });
    this.#server.on('connection', (socket: WebSocket, request: IncomingMessage) =>
      this.#connected(socket, request),
    );
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!mayUpgrade(request, this.#settings.origins)) {
      refuseUpgrade(socket, 403, 'Forbidden');
      return;
    }
    if (this.#draining) {
      refuseUpgrade(socket, 503, 'Service Unavailable');
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#server.emit('connection', webSocket, request);
    });
  }

  get size(): number {
    return this.#server.clients.size;
  }

  /** Answers under way are sent first; subscriptions go on elsewhere when their clients reconnect. */
  async drain(): Promise<void> {
    this.#draining = true;
    const closed = [...this.#server.clients].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    for (const socket of this.#server.clients) this.#closeIfIdle(socket);
    await Promise.all(closed);
  }

  terminate(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  #closeIfIdle(socket: WebSocket): void {
    if (!this.#draining || this.#underWay.get(socket)?.size) return;
    socket.close(SERVICE_RESTART, 'restarting');
  }

  #connected(socket: WebSocket, request: IncomingMessage): void {
    const { log, pingMs } = this.#settings;
    const gone = new AbortController();
    this.#underWay.set(socket, new Set());
    const opened = this.#protocol.opened(
      {
        protocol: socket.protocol,
        // Resolved when the bytes have left: a reader that stalls is not read for either.
        send: (data) =>
          new Promise((resolve) => {
            if (socket.readyState === socket.OPEN) socket.send(data, () => resolve());
            else resolve();
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (heard) => {
          socket.on('message', (data) => {
            heard(String(data)).catch((error: unknown) => {
              log.error({ err: error }, 'a WebSocket message could not be handled');
              socket.close(CloseCode.InternalServerError, 'Internal server error');
            });
          });
        },
      },
      { socket, request, gone },
    );
    const stopPings = keepAlive(socket, pingMs);
    // A frame that is too large or broken: `ws` has closed the socket with its code already.
    socket.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
    socket.once('close', (code, reason) => {
      stopPings();
      gone.abort();
      void opened(code, String(reason));
    });
  }

  readonly #protocol = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: INIT_TIMEOUT_MS,
    onSubscribe: ({ extra, connectionParams, subscriptions }, id, payload) => {
      const { maxOperations } = this.#settings;
      const open = Object.keys(subscriptions).length;
      if (open > maxOperations) return [tooComplex('operations of a socket', open, maxOperations)];
      const operation = this.#settings.engine.open(payload, {
        caller: callerOf(extra, connectionParams),
        requestId: requestIdFrom(extra.request.headers['x-request-id']),
        mayMutate: true,
      });
      if (!operation.ready) return operation.errors;
      if (operation.operation !== 'subscription') this.#underWay.get(extra.socket)?.add(id);
      return asArguments(operation);
    },
    execute: (args) => operationOf(args).execute(),
    subscribe: async (args) => {
      const operation = operationOf(args);
      return operation.subscribe();
    },
    onOperation: ({ extra }, _id, _payload, _args, result) =>
      Symbol.asyncIterator in result
        ? this.#untilTokenEnds(extra.socket, result as AsyncIterable<ExecutionResult>)
        : undefined,
    onComplete: ({ extra }, id) => {
      this.#underWay.get(extra.socket)?.delete(id);
      // One turn later, behind the protocol's own last message.
      setImmediate(() => this.#closeIfIdle(extra.socket));
    },
  });

  /** The close code says it all: an `error` message would end the subscription in client libraries for good. */
  #untilTokenEnds(
    socket: WebSocket,
    stream: AsyncIterable<ExecutionResult>,
  ): AsyncGenerator<ExecutionResult, void, void> {
    return mapStream<ExecutionResult, ExecutionResult>(stream, {
      value: (event) => event,
      failure: (error) => {
        if (!(error instanceof TokenEndedError)) throw error;
        socket.close(CloseCode.Forbidden, error.code);
        return null;
      },
    });
  }
}

function callerOf({ request, gone }: Connection, params: unknown): Caller {
  return {
    token: bearerToken(authorizationOf(params)),
    signal: gone.signal,
    client: {
      address: request.socket.remoteAddress ?? '',
      userAgent: request.headers['user-agent'] ?? null,
    },
  };
}

/** Client libraries differ in how they write the key. */
function authorizationOf(params: unknown): unknown {
  if (typeof params !== 'object' || params === null) return undefined;
  return Object.entries(params).find(([key]) => key.toLowerCase() === 'authorization')?.[1];
}

/** graphql-ws wants execution arguments; ours are prepared already and travel along. */
function asArguments(operation: Ready): ExecutionArgs {
  const { schema, document, operationName } = operation;
  return { schema, document, operationName, rootValue: operation };
}

function operationOf(args: ExecutionArgs): Ready {
  return args.rootValue as Ready;
}

/** A half-open line looks like a quiet one until a ping goes unanswered. */
function keepAlive(socket: WebSocket, pingMs: number): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) {
      socket.terminate();
      return;
    }
    answered = false;
    socket.ping();
  }, pingMs);
  timer.unref();
  return () => clearInterval(timer);
}

function refuseUpgrade(socket: Duplex, status: number, reason: string): void {
  socket.on('error', () => {});
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
