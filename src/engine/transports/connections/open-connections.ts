import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Slot } from '../../../lib/limits/slot.ts';
import type { EngineLimitName } from '../../operation/limits.ts';
import { unfinishedBytes } from './unfinished-frames.ts';

/** Why a connection was closed: bytes that nobody reads, or the bound of all connections' bytes. */
export const CUTS = ['unread', 'bytes'] as const;

interface OpenConnectionsOptions {
  /** The maximum of all connections' unread and unfinished bytes. */
  readonly heldBytes: number;
  /** How long unread bytes may stay where they are. */
  readonly unreadMs: number;
  readonly onCut: (reason: (typeof CUTS)[number]) => void;
}

const LOOK_MS = 500;
// More than one connection is closed at a time, since finding the largest of thousands takes a while.
const RELIEF = 7 / 8;

/** One connection of the public listener. */
export class Connection {
  readonly socket: Socket;
  /** Its address's; null where it comes from a trusted proxy, whose connections are everybody's. */
  slot: Slot<EngineLimitName> | null = null;
  /** The HTTP requests on it that are being answered. */
  underWay = 0;
  /** Those that wait for the answers before theirs. */
  waiting = 0;
  webSocket: WebSocket | null = null;
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
    return this.underWay + this.waiting > 0;
  }

  /** Call it when a request has arrived whole. Further ones that wait behind it stay counted. */
  arrived(): void {
    if (this.waiting === 0) this.#wholeUntil = this.socket.bytesRead;
  }
}

/**
 * The connections of the public listener. The limits of a body and of a message bound each of them; this bounds what all
 * of them hold, or an address with thousands of connections could fill the memory.
 */
export class OpenConnections {
  readonly #options: OpenConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  #looks: NodeJS.Timeout | undefined;

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

  /** Of a closed one nothing counts any more. */
  of(socket: Socket): Connection {
    return this.#open.get(socket) ?? new Connection(socket);
  }

  /** From here on the connection is a WebSocket's. */
  upgraded(socket: Socket, webSocket: WebSocket): void {
    this.of(socket).webSocket = webSocket;
    socket.setTimeout(this.#options.unreadMs);
    // More than once: a quiet socket may stop reading later.
    socket.on('timeout', () => this.timedOut(socket));
  }

  /**
   * Call it when nothing has moved on a socket for its time. Node restarts that time with each byte that is read, and with
   * each part of a large write that the kernel takes.
   */
  timedOut(socket: Socket): void {
    const { unread, isBusy, webSocket } = this.of(socket);
    if (unread > 0) this.#cut(socket, 'unread');
    // An idle connection has had Node's time for the next request. A quiet stream goes on.
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

  /** By a reset: after a normal close the kernel would keep its part of the answer for the reader. */
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
