import type { IncomingMessage } from 'node:http';
import type { ExecutionArgs } from 'graphql';
import { type ConnectionInitMessage, MessageType, makeServer } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { parseExactJson } from '../../../lib/exact-json.ts';
import { isObject } from '../../../lib/is-object.ts';
import { clientOf } from '../../../lib/limits/request-caller.ts';
import { tooComplex } from '../../operation/request-error.ts';
import { CLOSINGS, type Closing } from '../connections/closings.ts';
import { COUNTED_BYTES } from '../connections/message-budget.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import { errorsOf, type OperationOwner, SocketOperation } from './socket-operation.ts';
import { SocketSession } from './socket-session.ts';

/** An id is retained until its operation ends, and sent with each result. */
const MAX_ID_LENGTH = 255;
/** The limit of in-flight operations on one socket, subscriptions included. */
const MAX_OPERATIONS = 100;
// A close frame cannot hold more.
const MAX_REASON_BYTES = 123;
// A busy client or a poor network may not answer for a minute. A pause of this process leaves one ping unanswered.
const MAX_UNANSWERED_PINGS = 5;
/** The first messages are free, so that a client at a flooded address can prove its token. The upgrade was counted. */
const FREE_MESSAGES = 3;
const CLIENT_MESSAGES: ReadonlySet<unknown> = new Set([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);
/** The number that `#withProtocolId` puts before a client's id. It is removed from messages and close reasons. */
const ID_NUMBER = /(?<=^\{"id":"|^Subscriber for )\d+:/;

/** graphql-ws's protocol for all sockets (its `extra`). Results bypass it: one event is serialized once for many sockets. */
const PROTOCOL = makeServer<ConnectionInitMessage['payload'], GraphQLSocket>({
  onConnect(context) {
    const { extra, connectionParams } = context;
    // The context must not retain the token.
    delete (context as { connectionParams?: unknown }).connectionParams;
    if (!extra.session.initialize(connectionParams)) extra.close('header');
  },
  onSubscribe: ({ extra }, id, payload) => extra.open(id, payload),
  execute: start,
  subscribe: start,
  onError: (_context, _id, _payload, errors) => errorsOf(errors),
});

function start({ rootValue }: ExecutionArgs) {
  return (rootValue as SocketOperation).start();
}

/** One WebSocket: applies its limits, and runs its operations by the protocol. */
export class GraphQLSocket implements OperationOwner {
  readonly settings: ServerSettings;
  readonly session: SocketSession;
  readonly #socket: WebSocket;
  /** The operations that have not ended. Their client may have unsubscribed from some of them. */
  readonly #operations = new Set<SocketOperation>();
  /** The operation that the current message has opened. */
  #opened: SocketOperation | null = null;
  #lastIdNumber = 0;
  /** Callbacks that wait until the client has read enough. */
  readonly #waiting: (() => void)[] = [];
  #unansweredPings = 0;
  #freeMessages = FREE_MESSAGES;
  #isRestarting = false;

  constructor(socket: WebSocket, request: IncomingMessage, settings: ServerSettings) {
    const { connections, log, openConnections } = settings;
    this.#socket = socket;
    this.settings = settings;
    this.session = new SocketSession(request, settings);
    let deliver: (message: never) => Promise<void> = async () => {};
    const protocolClosed = PROTOCOL.opened(
      {
        protocol: socket.protocol,
        send: (text) => this.send(text.replace(ID_NUMBER, '')),
        close: (code = 1000, reason = '') => this.#closeWith(code, reason.replace(ID_NUMBER, '')),
        // The type of `handle` allows only texts. The protocol also accepts parsed messages, and validates them.
        onMessage: (handle) => {
          deliver = handle as typeof deliver;
        },
      },
      this,
    );
    socket.on('message', (data: Buffer) => {
      if (!this.#charge(data.length)) return;
      const message = this.#withProtocolId(readMessage(String(data)));
      const handled = deliver(message as never);
      const operation = this.#opened;
      this.#opened = null;
      handled.catch((error: unknown) => this.#failed(error, operation));
      if (message?.type === MessageType.Complete) this.#leave(message.id);
    });
    socket.on('ping', () => this.#charge(0));
    socket.on('pong', () => this.#charge(0));
    socket.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
    const pings = setInterval(() => this.#ping(), connections.pingMs);
    socket.once('close', (code, reason) => {
      clearInterval(pings);
      this.#resumeWaiting();
      for (const operation of [...this.#operations]) operation.leave();
      protocolClosed(code, String(reason)).catch((error) => this.#failed(error, null));
    });
    openConnections.addLongLived(openConnections.get(request.socket), this);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  open(protocolId: string, payload: object): ReturnType<SocketOperation['open']> {
    const operation = new SocketOperation(protocolId, this);
    const count = this.#operations.size + 1;
    if (count > MAX_OPERATIONS) {
      return operation.refuse(tooComplex('operations of a socket', count, MAX_OPERATIONS), payload);
    }
    this.#opened = operation;
    this.#operations.add(operation);
    return operation.open(payload);
  }

  ended(operation: SocketOperation): void {
    this.#operations.delete(operation);
    this.closeIfIdle();
  }

  /** Whether the client has read enough. If not, `ready` is called later, and its caller checks again then. */
  hasRoom(ready: () => void): boolean {
    if (!this.isOpen || !this.#isFull) return true;
    this.#waiting.push(ready);
    return false;
  }

  /** Sends a message, which `ws` compresses if it is large. `done` is called when it has been written, or never can be. */
  send(message: string | Buffer, done?: () => void): void {
    if (!this.isOpen) {
      done?.();
      return;
    }
    this.#socket.send(message, { binary: false }, () => {
      done?.();
      if (this.#isFull) return;
      this.#resumeWaiting();
      if (this.isOpen && this.#socket.isPaused) this.#socket.resume();
    });
    // Reads nothing more from a client that does not read its answers.
    if (this.#isFull) this.#socket.pause();
  }

  get #isFull(): boolean {
    return this.#socket.bufferedAmount > this.settings.connections.unreadBytes;
  }

  #resumeWaiting(): void {
    for (const ready of this.#waiting.splice(0)) ready();
  }

  close(closing: Closing, ownReason?: string): void {
    const [code, reason] = CLOSINGS[closing];
    this.#closeWith(code, ownReason ?? reason);
  }

  /** Drops a reason that is too long because it contains a client's own text. */
  #closeWith(code: number, reason: string): void {
    this.#socket.close(code, Buffer.byteLength(reason) > MAX_REASON_BYTES ? '' : reason);
  }

  /** Closes the socket when its answers have been sent. Its client reconnects, and reaches another replica. */
  restart(): void {
    this.#isRestarting = true;
    this.closeIfIdle();
  }

  closeIfIdle(): void {
    if (!this.#isRestarting || this.#isAwaited()) return;
    // The protocol still has to send `complete` in this turn. An operation that begins before the next turn is answered.
    setImmediate(() => {
      if (!this.#isAwaited()) this.close('restart');
    });
  }

  #isAwaited(): boolean {
    for (const { isAwaited } of this.#operations) if (isAwaited) return true;
    return false;
  }

  /** Detects half-open connections, which look like quiet ones. For a client that does not read, another deadline counts. */
  #ping(): void {
    if (!this.isOpen || this.#socket.bufferedAmount > 0) return;
    if (this.#unansweredPings >= MAX_UNANSWERED_PINGS) {
      this.#socket.terminate();
      return;
    }
    this.#unansweredPings += 1;
    this.#socket.ping();
  }

  /** Charges a message to its client. Returns false if it must not be handled, because the socket is closing. */
  #charge(bytes: number): boolean {
    if (!this.isOpen) return false;
    this.#unansweredPings = 0;
    this.#freeMessages -= 1;
    if (this.#freeMessages >= 0 && bytes < COUNTED_BYTES) return true;
    if (this.settings.messages.take(clientOf(this.session.caller), bytes)) return true;
    this.close('rate');
    // Messages that have already arrived stay unread until `ws` ends the connection.
    this.#socket.pause();
    return false;
  }

  /**
   * Gives each operation a unique id. A client may reuse the id of an operation from which it has unsubscribed. The protocol
   * would take the end of that operation for the end of the new one.
   */
  #withProtocolId(message: Message): Message {
    if (typeof message?.id !== 'string' || message.id === '') return message;
    for (const { id, protocolId, isLeft } of this.#operations) {
      if (id === message.id && !isLeft) return Object.assign(message, { id: protocolId });
    }
    this.#lastIdNumber += 1;
    return Object.assign(message, { id: `${this.#lastIdNumber}:${message.id}` });
  }

  #leave(protocolId: unknown): void {
    for (const each of this.#operations) if (each.protocolId === protocolId) each.leave();
  }

  #failed(error: unknown, operation: SocketOperation | null): void {
    const requestId = operation?.summary.requestId;
    this.settings.log.error({ err: error, requestId }, 'a WebSocket message could not be handled');
    operation?.failed();
    this.close('fault');
  }
}

type Message = Record<string, unknown> | null;

/** Parses a message without rounding its numbers. Null if no client may send it. */
function readMessage(text: string): Message {
  try {
    const message = parseExactJson(text);
    if (!isObject(message) || !CLIENT_MESSAGES.has(message.type)) return null;
    const { id, type, payload } = message;
    if (typeof id === 'string' && id.length > MAX_ID_LENGTH) return null;
    // graphql-ws requires a text in each operation, but a document id may replace it.
    if (type === MessageType.Subscribe && isObject(payload)) payload.query ??= '';
    return message;
  } catch {
    return null;
  }
}
