import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Client } from '../../../lib/limits/client.ts';
import type { EngineLimiter } from '../../operation/limits.ts';
import { unfinishedBytes } from './unfinished-frames.ts';

/** Why a connection was closed: its client does not read, or all connections hold too many bytes. */
export const CUTS = ['unread', 'bytes'] as const;

interface OpenConnectionsOptions {
  /** The maximum of all connections' unread and unfinished bytes. */
  readonly heldBytes: number;
  /** How long unread bytes may stay without moving. */
  readonly unreadMs: number;
  readonly limiter: EngineLimiter;
  readonly onCut: (reason: (typeof CUTS)[number]) => void;
}

const LOOK_MS = 500;
// Closes more than one connection at a time, because finding the largest of thousands takes a while.
const RELIEF = 7 / 8;

/** The maximum of pipelined requests that wait on a connection. Node parses every request of one read. */
const MAX_WAITING = 32;

/** A WebSocket or an event stream, which lasts until one side closes it. */
interface LongLived {
  /** Closes it, so that its client reconnects and reaches another replica. */
  restart(): void;
}

/** One connection of the public listener. */
export class Connection {
  readonly socket: Socket;
  /** The number of its HTTP requests that are being answered. */
  underWay = 0;
  webSocket: WebSocket | null = null;
  /** A shutdown has to close it, because its client would not. */
  longLived: LongLived | null = null;
  /** The number of its pipelined requests that wait for earlier answers. */
  #waiting = 0;
  #wholeUntil = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** The bytes that the client has not read. */
  get unread(): number {
    return this.webSocket?.bufferedAmount ?? this.socket.writableLength;
  }

  /** The bytes of a request or a message that has not arrived whole. */
  get unfinished(): number {
    if (this.webSocket !== null) return unfinishedBytes(this.webSocket);
    return this.socket.bytesRead - this.#wholeUntil;
  }

  /** Whether requests on it have no answer yet. */
  get isBusy(): boolean {
    return this.underWay + this.#waiting > 0;
  }

  /** Whether a further request would be one too many. */
  get isFull(): boolean {
    return this.#waiting >= MAX_WAITING;
  }

  /** Call it when a request has arrived whole. Bytes of requests that wait stay counted. */
  arrived(): void {
    if (this.#waiting === 0) this.#wholeUntil = this.socket.bytesRead;
  }

  /**
   * Back-pressure for HTTP pipelining: begins a request when the client has taken the answers before it, and reads no
   * further requests until the last one has begun. If the connection closes, the request never begins.
   */
  beginInOrder(response: ServerResponse, begin: () => void): void {
    const { socket } = this;
    this.#waiting += 1;
    // Node resumes the socket at the end of each message: pause it after that, before the next read.
    process.nextTick(() => this.#waiting > 0 && socket.pause());
    response.once('socket', () =>
      // A turn of its own lets other connections run in between.
      setImmediate(() => {
        this.#waiting -= 1;
        if (this.#waiting === 0) socket.resume();
        if (!socket.destroyed) begin();
      }),
    );
  }
}

/**
 * The connections of the public listener. The limits of bodies and messages bound each connection. This class bounds all of
 * them together: otherwise an address with thousands of connections could fill the memory.
 */
export class OpenConnections {
  readonly #options: OpenConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  #looks: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(options: OpenConnectionsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#open.size;
  }

  get unread(): number {
    return this.#sum(({ unread }) => unread);
  }

  get unfinished(): number {
    return this.#sum(({ unfinished }) => unfinished);
  }

  open(socket: Socket): Connection {
    const connection = new Connection(socket);
    this.#open.set(socket, connection);
    this.#looks ??= setInterval(() => this.#look(), LOOK_MS).unref();
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      clearInterval(this.#looks);
      this.#looks = undefined;
    });
    return connection;
  }

  /** Charges a connection to its client until it closes. Returns false if the client has too many. */
  charge(socket: Socket, client: Client): boolean {
    const { limiter } = this.#options;
    if (limiter.take('connections', client).isOver) return false;
    socket.once('close', () => limiter.giveBack('connections', client));
    return true;
  }

  /** A closed connection is replaced by an empty one, which counts nothing. */
  of(socket: Socket): Connection {
    return this.#open.get(socket) ?? new Connection(socket);
  }

  /** Call it when a connection has become a WebSocket. */
  upgraded(socket: Socket, webSocket: WebSocket): void {
    this.of(socket).webSocket = webSocket;
    socket.setTimeout(this.#options.unreadMs);
    // The timeout can fire more than once, because a quiet client may stop reading later.
    socket.on('timeout', () => this.timedOut(socket));
  }

  /** Registers a WebSocket or an event stream for the drain. If the drain has begun, closes it at once. */
  lasts(socket: Socket, longLived: LongLived): void {
    if (this.#isDraining) longLived.restart();
    else this.of(socket).longLived = longLived;
  }

  /** Closes the WebSockets and event streams. Their clients reconnect with jitter. */
  drain(): void {
    this.#isDraining = true;
    for (const { longLived } of this.#open.values()) longLived?.restart();
  }

  /**
   * Call it when a socket has been idle for its timeout. Node restarts the timeout with each byte that is read, and with
   * each part of a large write that the kernel takes.
   */
  timedOut(socket: Socket): void {
    const { unread, isBusy, webSocket } = this.of(socket);
    if (unread > 0) this.#cut(socket, 'unread');
    // An idle connection has waited long enough for its next request. A quiet stream continues.
    else if (!isBusy && webSocket === null) socket.destroy();
  }

  #look(): void {
    const { heldBytes } = this.#options;
    let total = this.unread + this.unfinished;
    if (total <= heldBytes) return;
    const largestFirst = [...this.#open.values()]
      .map(({ socket, unread, unfinished }) => ({ socket, bytes: unread + unfinished }))
      .sort((one, other) => other.bytes - one.bytes);
    for (const { socket, bytes } of largestFirst) {
      if (total <= heldBytes * RELIEF) return;
      total -= bytes;
      this.#cut(socket, 'bytes');
    }
  }

  /** Resets the connection: after a normal close the kernel would keep its part of the answer for the reader. */
  #cut(socket: Socket, reason: (typeof CUTS)[number]): void {
    this.#options.onCut(reason);
    socket.resetAndDestroy();
  }

  #sum(bytesOf: (connection: Connection) => number): number {
    let sum = 0;
    for (const connection of this.#open.values()) sum += bytesOf(connection);
    return sum;
  }
}
