import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { steadyClock } from '../../lib/clock.ts';
import type { Client, Token } from '../../lib/limits/request-caller.ts';
import type { EngineLimiter } from '../core/limits.ts';

/** The bounds of connections that are the same for every installation; tests lower them. */
export const CONNECTIONS = {
  /** The maximum of open connections, WebSockets included. Node closes further ones as soon as they are accepted. */
  most: 20_000,
  /** The limit of all connections' unread bytes and unfinished requests and messages together. */
  heldBytes: 134_217_728,
  /** A WebSocket with more unread bytes is not read, and its operations and events wait. */
  unreadBytes: 262_144,
  /** How long unread bytes may stay without moving. */
  unreadMs: 30_000,
  /** The interval of the pings that keep a quiet socket or event stream open. */
  pingMs: 12_000,
  /** The monotonic clock, which tests replace. */
  clock: steadyClock,
};

export type ConnectionBounds = Partial<typeof CONNECTIONS>;

/** Why a connection was closed: its client does not read, or all connections hold too many bytes. */
export const CUTS = ['unread', 'bytes'] as const;

/** The numbers are explained at CONNECTIONS. */
interface OpenConnectionsOptions {
  readonly heldBytes: number;
  readonly unreadMs: number;
  readonly limiter: EngineLimiter;
  readonly onCut: (reason: (typeof CUTS)[number]) => void;
}

const CHECK_MS = 500;
// Connections are closed until this share of the limit is left, because finding the largest of thousands takes a while.
const SHARE_AFTER_CUTS = 7 / 8;

/** A WebSocket or an event stream, which lasts until one side closes it. */
interface LongLived {
  /** Closes the connection, so that its client reconnects and reaches another replica. */
  restart(): void;
}

export class Connection {
  readonly socket: Socket;
  /** The number of its HTTP requests without an answer, those that wait for earlier answers included. */
  underWay = 0;
  /** The number of its pipelined requests that wait for earlier answers. */
  waiting = 0;
  webSocket: WebSocket | null = null;
  /** The token of its latest request, with the digest of the forwarded headers. */
  lastToken: { readonly token: Token; readonly digest: string } | null = null;
  /** The stream on the connection. A shutdown has to close it, because its client would not. */
  longLived: LongLived | null = null;
  /** The bytes that had been read when no request was unfinished. */
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

  /** Call it when a request was answered. While other requests are under way, their bytes count. */
  markWhole(): void {
    if (this.underWay <= 1) this.#wholeUntil = this.socket.bytesRead;
  }
}

/**
 * The connections of the public listener. The limits of bodies and messages bound each connection. This class bounds all
 * connections together, so that an address with thousands of them cannot fill the memory.
 */
export class OpenConnections {
  readonly #options: OpenConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  #checks: NodeJS.Timeout | undefined;
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
    this.#checks ??= setInterval(() => this.#cutLargest(), CHECK_MS).unref();
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      clearInterval(this.#checks);
      this.#checks = undefined;
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

  /** Returns the connection of a socket. For a closed socket it returns a new one, which is not counted. */
  get(socket: Socket): Connection {
    return this.#open.get(socket) ?? new Connection(socket);
  }

  upgraded(socket: Socket, webSocket: WebSocket): void {
    this.get(socket).webSocket = webSocket;
    socket.setTimeout(this.#options.unreadMs);
    // The timeout can fire more than once, because a quiet client may stop reading later.
    socket.on('timeout', () => this.timedOut(socket));
  }

  /** Registers a WebSocket or an event stream for the drain. If the drain has begun, closes it at once. */
  addLongLived(connection: Connection, longLived: LongLived): void {
    if (this.#isDraining) longLived.restart();
    else connection.longLived = longLived;
  }

  /** Call it when a request has arrived whole. Its answer may be earlier, for example that its body is too large. */
  requestArrived(connection: Connection): void {
    connection.markWhole();
    if (this.#isDraining && connection.underWay === 0) connection.socket.destroySoon();
  }

  /** Closes the connections without a request, and the long-lived ones, whose clients reconnect with jitter. */
  drain(): void {
    this.#isDraining = true;
    for (const { longLived, socket, underWay, unfinished } of this.#open.values()) {
      if (longLived !== null) longLived.restart();
      else if (underWay === 0 && unfinished === 0) socket.destroy();
    }
  }

  /**
   * Call it when a socket has been idle for its timeout. Node restarts the timeout with each byte that is read, and with
   * each part of a large write that the kernel takes.
   */
  timedOut(socket: Socket): void {
    const { unread, underWay, webSocket } = this.get(socket);
    if (unread > 0) this.#cut(socket, 'unread');
    // An idle connection has waited long enough for its next request. A quiet stream continues.
    else if (underWay === 0 && webSocket === null) socket.destroy();
  }

  /** Closes the connections that hold the most bytes, if all connections together hold too many. */
  #cutLargest(): void {
    const { heldBytes } = this.#options;
    let total = this.unread + this.unfinished;
    if (total <= heldBytes) return;
    const largestFirst = [...this.#open.values()]
      .map(({ socket, unread, unfinished }) => ({ socket, bytes: unread + unfinished }))
      .sort((one, other) => other.bytes - one.bytes);
    for (const { socket, bytes } of largestFirst) {
      if (total <= heldBytes * SHARE_AFTER_CUTS) return;
      total -= bytes;
      this.#cut(socket, 'bytes');
    }
  }

  /** Resets the connection. After a normal close the kernel would keep unsent bytes for the reader. */
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

/** The private fields in which the receiver of `ws` keeps a message that has not arrived whole. */
interface Receiver {
  /** Parts of a frame. */
  readonly _buffers?: readonly Buffer[];
  /** Frames of a message, which are already unpacked. */
  readonly _fragments?: readonly Buffer[];
}

/**
 * The memory that a WebSocket's unfinished message takes. The bytes on the wire are a poor measure: a part of ten bytes may
 * belong to a read of 64 kB that stays in memory whole, and a packed frame of 300 bytes unpacks to 256 kB. Zero if a
 * version of `ws` has other fields.
 */
export function unfinishedBytes(socket: WebSocket): number {
  const { _receiver: receiver } = socket as unknown as { readonly _receiver?: Receiver | null };
  const parts = [...(receiver?._buffers ?? []), ...(receiver?._fragments ?? [])];
  if (parts.length === 0) return 0;
  let bytes = 0;
  for (const memory of new Set(parts.map(({ buffer }) => buffer))) bytes += memory.byteLength;
  return bytes;
}
