import type { IncomingMessage } from 'node:http';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { clientOf } from '../../lib/limits/request-caller.ts';
import { COUNTED_BYTES } from '../admission/client-limits.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import type { Answer } from '../core/result-iterator.ts';
import type { OpenedOperation } from '../execution/pipeline.ts';
import type { TransportServices } from '../requests/transport-services.ts';
import { SocketSession } from './socket-session.ts';

/** The close codes and reasons that this server adds to those of graphql-ws and `ws`. */
export const CLOSINGS = {
  header: [CloseCode.BadRequest, 'A header of connectionParams cannot be forwarded'],
  rate: [1013, 'Too many messages'],
  /** The reason is the error's code. */
  tokenEnd: [CloseCode.Forbidden, 'UNAUTHENTICATED'],
  sameId: [CloseCode.SubscriberAlreadyExists, 'An operation with this id is under way'],
  restart: [1012, 'restarting'],
  fault: [CloseCode.InternalServerError, 'Internal server error'],
} as const satisfies Readonly<Record<string, readonly [code: number, reason: string]>>;

/** One operation of a socket, from its `subscribe` until its last message has been handed over. */
export interface SocketOperation {
  readonly id: string;
  readonly summary: RequestSummary;
  /** Aborted when the client has disconnected. This stops reads. A write is completed. */
  readonly leaving: AbortController;
  /** Null until the operation is admitted. */
  start: OpenedOperation['start'] | null;
  /** Null until the operation has been executed. */
  answer: Answer | null;
}

/** The first messages are free, so that a client at a flooded address can prove its token. The upgrade was counted. */
const FREE_MESSAGES = 3;
// A close frame cannot hold more.
const MAX_REASON_BYTES = 123;

/** One WebSocket: passes on its messages within its limits, sends to its client, and closes it. */
export class GraphQLSocket {
  readonly services: TransportServices;
  readonly session: SocketSession;
  /** The operations under way by their ids, also those that their client has left. */
  readonly operations = new Map<string, SocketOperation>();
  readonly #socket: WebSocket;
  #freeMessages = FREE_MESSAGES;
  #isRestarting = false;
  /** The operation whose result is in the message that is made in this turn. */
  #written: SocketOperation | null = null;

  constructor(socket: WebSocket, request: IncomingMessage, services: TransportServices) {
    const { connections, log, openConnections } = services;
    this.#socket = socket;
    this.services = services;
    this.session = new SocketSession(request, services);
    socket.on('ping', () => this.#charge(0));
    socket.on('pong', () => this.#charge(0));
    socket.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
    keepAlive(socket, connections.pingMs);
    // Reads on when the client has read its answers.
    request.socket.on('drain', () => this.#readIfDrained());
    socket.once('close', () => {
      for (const { leaving } of [...this.operations.values()]) leaving.abort();
    });
    openConnections.addLongLived(openConnections.get(request.socket), this);
  }

  /** Calls `handle` with each message within the limits, and `closed` when the socket has closed. */
  listen(
    handle: (text: string) => Promise<void>,
    closed: (code: number, reason: string) => Promise<void>,
  ): void {
    this.#socket.on('message', (data: Buffer) => {
      if (!this.#charge(data.length)) return;
      handle(String(data)).catch((error: unknown) => {
        this.services.log.error({ err: error }, 'a WebSocket message could not be handled');
        this.close('fault');
      });
    });
    this.#socket.once('close', (code, reason) => {
      fireAndForget('WebSocket', closed(code, String(reason)));
    });
  }

  get subprotocol(): string {
    return this.#socket.protocol;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  close(closing: keyof typeof CLOSINGS, ownReason?: string): void {
    const [code, reason] = CLOSINGS[closing];
    this.closeWith(code, ownReason ?? reason);
  }

  /** Drops a reason that is too long because it contains a client's own text. */
  closeWith(code: number, reason: string): void {
    this.#socket.close(code, Buffer.byteLength(reason) > MAX_REASON_BYTES ? '' : reason);
  }

  /** The next message has a result of this operation. */
  writes(operation: SocketOperation): void {
    this.#written = operation;
  }

  /** `isLeft`: whether the client has unsubscribed. A subscription that had started ends in that way. */
  end(operation: SocketOperation, isLeft: boolean): void {
    const { id, summary } = operation;
    const isGone = isLeft || !this.isOpen;
    if (isGone && !summary.hasEvents) summary.worsen('gone');
    this.services.accessLog.ended(summary, this.session.caller, null);
    if (this.operations.get(id) === operation) this.operations.delete(id);
    this.#closeIfIdle();
  }

  /** Closes the socket when its answers have been sent. Its client reconnects, and reaches another replica. */
  restart(): void {
    this.#isRestarting = true;
    this.#closeIfIdle();
  }

  #closeIfIdle(): void {
    if (!this.#isRestarting || this.#isAwaited()) return;
    // The protocol still has to send `complete` in this turn. An operation that begins before the next turn is answered.
    setImmediate(() => {
      if (!this.#isAwaited()) this.close('restart');
    });
  }

  /** Whether its client waits for an answer. A shutdown does not wait for subscriptions. */
  #isAwaited(): boolean {
    return [...this.operations.values()].some(
      ({ summary }) => summary.type !== 'subscription' && !summary.hasEnded,
    );
  }

  /** Resolves when the message has been written, or never can be. `ws` compresses it if it is large. */
  send(text: string): Promise<void> {
    const sent = Promise.withResolvers<void>();
    this.#written?.summary.sent(Buffer.byteLength(text));
    this.#written = null;
    if (this.isOpen) this.#socket.send(text, () => sent.resolve());
    else sent.resolve();
    // Reads nothing more from a client that does not read its answers.
    if (this.#isFull && !this.#socket.isPaused) this.#socket.pause();
    return sent.promise;
  }

  get #isFull(): boolean {
    return this.#socket.bufferedAmount > this.services.connections.unreadBytes;
  }

  #readIfDrained(): void {
    if (this.isOpen && this.#socket.isPaused && !this.#isFull) this.#socket.resume();
  }

  /** Charges a message to its client. Returns false if it must not be handled, because the socket is closing. */
  #charge(bytes: number): boolean {
    if (!this.isOpen) return false;
    this.#freeMessages -= 1;
    if (this.#freeMessages >= 0 && bytes < COUNTED_BYTES) return true;
    if (this.services.limits.takeMessage(clientOf(this.session.caller), bytes)) return true;
    this.services.errorMetrics.refusal('messages');
    this.close('rate');
    // Messages that have already arrived stay unread until `ws` ends the connection.
    this.#socket.pause();
    return false;
  }
}

// A busy client or a poor network may not answer for a minute. A pause of this process leaves one ping unanswered.
const MAX_UNANSWERED_PINGS = 5;

/** Detects half-open connections, which look like quiet ones. For a client that does not read, another deadline counts. */
function keepAlive(socket: WebSocket, pingMs: number): void {
  let unanswered = 0;
  for (const event of ['message', 'ping', 'pong']) {
    socket.on(event, () => {
      unanswered = 0;
    });
  }
  const pings = setInterval(() => {
    if (socket.readyState !== socket.OPEN || socket.bufferedAmount > 0) return;
    if (unanswered >= MAX_UNANSWERED_PINGS) {
      socket.terminate();
      return;
    }
    unanswered += 1;
    socket.ping();
  }, pingMs);
  socket.once('close', () => clearInterval(pings));
}
