import type { IncomingMessage } from 'node:http';
import type { ExecutionArgs, GraphQLError } from 'graphql';
import { type ConnectionInitMessage, MessageType, makeServer } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { parseExactJson } from '../../../lib/exact-json.ts';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import { isObject } from '../../../lib/is-object.ts';
import type { Slot } from '../../../lib/limits/slot.ts';
import { TokenBucket } from '../../../lib/limits/token-bucket.ts';
import { tooComplex } from '../../documents/structure.ts';
import { OverLimitError } from '../../operation/over-limit-error.ts';
import type { FrameWatcher, ReceiveBuffer, SendFault } from '../connections/receive-buffer.ts';
import { CLIENT_NAME, CLIENT_VERSION } from '../requests/client-names.ts';
import { Connection, type SocketSettings } from './connection.ts';
import { isInflated, unpackAtOnce } from './packed-messages.ts';
import { stopAtBrokenFrame } from './private-ws.ts';
import { errorsOf, type OperationOwner, SocketOperation } from './socket-operation.ts';

// The limit of an HTTP request's headers.
const MAX_AUTHORIZATION_LENGTH = 16_384;
const MAX_ID_LENGTH = 255;
const MAX_HEADERS = 16;
const HEADER_NAME = /^[\w-]{1,64}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]{0,1024}$/;
/** A member of `connectionParams`, in lower case. */
const ON_TOKEN_END = 'ontokenend';
const INCREMENTAL_SPEC = 'incrementalspec';
/** The limit of in-flight operations on one socket, subscriptions included. */
const MAX_OPERATIONS = 100;
// The frames that open a socket and answer its pings do not count: thousands of sockets may share one address.
const FREE_FRAMES = { max: 5, perMs: 10 / 60_000, maxDebt: 5 };
const LARGE_BYTES = 16_384;
// Long enough for the close frame to be read.
const LINGER_MS = 1_000;
/** After this error `ws` has closed the socket, but would read on for half a minute. */
const PIECES_ERROR = 'WS_ERR_TOO_MANY_BUFFERED_PARTS';

const NAMES_A_DOCUMENT = /"(?:documentId|persistedQuery)"/;
const OF_CLIENTS: ReadonlySet<unknown> = new Set([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);

type Message = Record<string, unknown> | null;
type Deliver = (message: Message) => Promise<void>;

/** Stands before an id in what the protocol writes. */
const OWN_ID = /(?<=^\{"id":"|^Subscriber for )\d+:/;

/** The protocol of every socket, with graphql-ws's own codes. It follows operations to their ends, while results bypass it. */
const PROTOCOL = makeServer<ConnectionInitMessage['payload'], GraphQLSocket>({
  onConnect(context) {
    const { extra, connectionParams } = context;
    // The token is not retained with them.
    delete (context as { connectionParams?: unknown }).connectionParams;
    return extra.initialize(connectionParams);
  },
  onSubscribe: ({ extra }, id, payload) => extra.open(id, payload),
  execute: start,
  subscribe: start,
  onError: (_context, _id, _payload, errors) => errorsOf(errors),
});

function start({ rootValue }: ExecutionArgs) {
  return (rootValue as SocketOperation).start();
}

/** The WebSocket under the protocol, from its upgrade to its close: its bounds, and what its operations share. */
export class GraphQLSocket implements FrameWatcher, OperationOwner {
  readonly #settings: SocketSettings;
  readonly connection: Connection;
  readonly #buffer: ReceiveBuffer;
  readonly #freeFrames: TokenBucket;
  readonly #protocolClosed: (code: number, reason: string) => Promise<void>;
  #deliver: Deliver = async () => {};
  /** Settles once `connection_init` is handled; null but in the flight that brings it. */
  #initializing: Promise<void> | null = null;
  /** The size of the message that the protocol was given last, and the operation that it has opened in the same turn. */
  #messageBytes = 0;
  #opened: SocketOperation | null = null;
  #subscribed = 0;
  /** The operations that their client has not left, by its ids. */
  readonly #operations = new Map<string, SocketOperation>();
  /** These, and those that go on although their client has left them. */
  readonly #unfinished = new Set<SocketOperation>();
  #isRestarting = false;
  /** The characters of all messages, as they have unpacked. */
  #unpacked = 0;

  /** `head`: what came behind the upgrade. */
  constructor(
    socket: WebSocket,
    request: IncomingMessage,
    head: Buffer,
    slot: Slot,
    settings: SocketSettings,
  ) {
    const { clock, keepAlive, lasting, maxBodyBytes, received } = settings;
    stopAtBrokenFrame(socket);
    unpackAtOnce(socket, maxBodyBytes);
    const connection = new Connection(socket, request, slot, settings);
    this.#settings = settings;
    this.connection = connection;
    this.#freeFrames = new TokenBucket(FREE_FRAMES, clock.now());
    this.#buffer = received.of(connection.stream);
    this.#buffer.address = connection.caller.client?.address ?? '';
    this.#buffer.upgraded(head, this);
    const leaveKeepAlive = keepAlive.join(connection);
    socket.on('message', (data) => this.#received(String(data)));
    socket.on('pong', () => keepAlive.received(connection));
    socket.on('error', (error) => this.#broke(error));
    socket.once('close', (code, reason) => {
      leaveKeepAlive();
      this.#closed(code, String(reason));
    });
    const underProtocol = {
      protocol: socket.protocol,
      send: (text: string) => connection.say(text.replace(OWN_ID, '')),
      close: (code: number, reason = '') => connection.closeWith(code, reason.replace(OWN_ID, '')),
      // It is given messages that are read already, and validates them.
      onMessage: (deliver: (data: never) => Promise<void>) => {
        this.#deliver = deliver as Deliver;
      },
    };
    this.#protocolClosed = PROTOCOL.opened(underProtocol, this);
    lasting.add(this);
  }

  /** Counts a frame, or a part of one, against its client. */
  arrived(bytes: number): void {
    const { clock, countMessage, received, refused } = this.#settings;
    if (bytes < LARGE_BYTES && this.#freeFrames.take(1, clock.now()) >= 0) return;
    if (countMessage(this.connection.caller, bytes) === 'within') return;
    refused('messages');
    received.cut(this.#buffer, 'rate');
  }

  #received(text: string): void {
    const connection = this.connection;
    // The answer could no longer be sent, so the operation is not begun.
    if (!connection.isOpen) return;
    connection.received();
    this.#unpacked += text.length;
    if (isInflated(this.#unpacked, connection.stream.bytesRead, this.#settings.maxBodyBytes)) {
      connection.close('inflated');
      return;
    }
    // A packed message is charged for what it has unpacked to, as well.
    if (connection.takesPacked && text.length >= LARGE_BYTES) this.arrived(text.length);
    if (this.#buffer.isStopped) return;
    this.#handle(readMessage(text), text.length);
  }

  #handle(message: Message, bytes: number): void {
    // What comes in one flight with `connection_init` waits until that is acknowledged.
    if (this.#initializing !== null) {
      fireAndForget(
        'response',
        this.#initializing.then(() => this.#handle(message, bytes)),
      );
      return;
    }
    const { type, id } = message ?? {};
    const known = this.#operations.get(id as string);
    if (message && typeof id === 'string' && id !== '')
      message.id = known?.ownId ?? this.#newId(id);
    this.#messageBytes = bytes;
    const handled = this.#deliverTo(message);
    if (type === MessageType.Complete) this.#leave(known);
    if (type !== MessageType.ConnectionInit) return;
    this.#initializing = handled.then(() => {
      this.#initializing = null;
    });
  }

  /** One that its client uses again is another to the protocol, which would take the end of the one for that of the other. */
  #newId(id: string): string {
    this.#subscribed += 1;
    return `${this.#subscribed}:${id}`;
  }

  #leave(operation: SocketOperation | undefined): void {
    if (operation === undefined) return;
    this.#operations.delete(operation.id);
    operation.leave();
  }

  async #deliverTo(message: Message): Promise<void> {
    const handled = this.#deliver(message);
    const operation = this.#opened;
    this.#opened = null;
    try {
      await handled;
    } catch (error) {
      // The payload of a ping nests too deep to be echoed.
      if (message?.type === MessageType.Ping) this.connection.close('unreadable');
      else this.failed(error, operation);
    }
    if (operation === null) return;
    if (!operation.isLeft) this.#operations.delete(operation.id);
    this.closeIfIdle();
  }

  /** Returns whether the protocol may acknowledge it. */
  initialize(params: unknown): boolean {
    const connection = this.connection;
    const authorization = textIn(params, 'authorization');
    if (authorization.length > MAX_AUTHORIZATION_LENGTH) return false;
    const headers = headersIn(params, this.#settings.forwarding.names);
    if (headers === null) {
      connection.close('header');
      return true;
    }
    connection.initialize(authorization, headers);
    if (textIn(params, ON_TOKEN_END) === 'error') connection.onTokenEnd = 'error';
    if (textIn(params, INCREMENTAL_SPEC) === 'v0.2') connection.partsFormat = 'incrementalSpec';
    connection.client ??= this.#settings.clientNames.of(
      textIn(params, CLIENT_NAME),
      textIn(params, CLIENT_VERSION),
    );
    return true;
  }

  /** Opens an operation: returns what the protocol executes, or the errors that it sends. */
  open(ownId: string, payload: object): ReturnType<SocketOperation['open']> {
    const operation = new SocketOperation(ownId, this.#messageBytes, this, this.#settings);
    const refusal = this.#refusalOf(operation.id);
    if (refusal !== null) return operation.refuse(refusal, payload);
    this.#opened = operation;
    this.#operations.set(operation.id, operation);
    this.#unfinished.add(operation);
    return operation.open(payload);
  }

  #refusalOf(id: string): GraphQLError | null {
    // The id is retained as long as its operation lasts.
    if (id.length > MAX_ID_LENGTH)
      return tooComplex('characters of an id', id.length, MAX_ID_LENGTH);
    const open = this.#unfinished.size + 1;
    if (open > MAX_OPERATIONS) return tooComplex('operations of a socket', open, MAX_OPERATIONS);
    return this.connection.claim() ? null : new OverLimitError('sockets');
  }

  ended(operation: SocketOperation): void {
    this.#unfinished.delete(operation);
    this.closeIfIdle();
  }

  /** Closes the socket, once its answers are sent: its client reconnects, and reaches another replica. */
  restart(): void {
    this.#isRestarting = true;
    this.closeIfIdle();
  }

  closeIfIdle(): void {
    if (!this.#isRestarting) return;
    for (const { isAwaited } of this.#unfinished) if (isAwaited) return;
    // After a result the protocol still has its `complete` to send.
    for (const { summary } of this.#operations.values())
      if (summary.type !== 'subscription') return;
    this.connection.close('restart');
  }

  /** Unauthenticated and idle, so evictable. */
  get isIdle(): boolean {
    return this.connection.slot.owner().kind === 'address' && this.#unfinished.size === 0;
  }

  /** Closes it for what it sends. */
  cut(fault: SendFault): void {
    this.connection.close(fault);
    this.#settings.clock.after(LINGER_MS, () => this.connection.socket.terminate());
  }

  /** A frame is too large or malformed: `ws` has closed the socket with the right code already. */
  #broke(error: NodeJS.ErrnoException): void {
    const { log, received } = this.#settings;
    log.debug({ err: error }, 'a WebSocket failed');
    if (error.code === PIECES_ERROR) received.cut(this.#buffer, 'pieces');
  }

  failed(error: unknown, operation: SocketOperation | null = null): void {
    const requestId = operation?.summary.requestId;
    this.#settings.log.error({ err: error, requestId }, 'a WebSocket message could not be handled');
    operation?.failed();
    this.connection.close('fault');
  }

  #closed(code: number, reason: string): void {
    this.#settings.lasting.delete(this);
    this.#settings.metrics.socketClosed(code);
    this.connection.unread.release();
    for (const operation of [...this.#operations.values()]) this.#leave(operation);
    this.#protocolClosed(code, reason).catch((error: unknown) => this.failed(error));
  }
}

/** Reads a message, whose numbers are not rounded; null for what no client may send. */
function readMessage(text: string): Message {
  try {
    const message = parseExactJson(text);
    if (!isObject(message) || !OF_CLIENTS.has(message.type)) return null;
    const { type, payload } = message;
    // graphql-ws wants a text in each operation, although the id of a document may stand for it.
    if (type === MessageType.Subscribe && isObject(payload) && NAMES_A_DOCUMENT.test(text)) {
      payload.query ??= '';
    }
    return message;
  } catch {
    return null;
  }
}

/**
 * The `headers` of `connectionParams`, as far as a request could have them. Null where one of the `forwarded` is left out,
 * or comes twice: the operations would be for another tenant.
 */
function headersIn(
  params: unknown,
  forwarded: readonly string[],
): Readonly<Record<string, string>> | null {
  const { headers } = (params ?? {}) as { readonly headers?: unknown };
  if (typeof headers !== 'object' || headers === null) return {};
  const named = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const taken = named
    .slice(0, MAX_HEADERS)
    .filter(
      ([name, value]) =>
        HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value),
    );
  const given = named.filter(([name]) => forwarded.includes(name));
  const isWhole = given.every((each) => taken.includes(each));
  const isOnce = new Set(given.map(([name]) => name)).size === given.length;
  return isWhole && isOnce ? Object.fromEntries(taken) : null;
}

/** A text of `connectionParams`, or an empty one. Client libraries differ in the case of the key. */
function textIn(params: unknown, name: string): string {
  const entry = Object.entries(params ?? {}).find(([key]) => key.toLowerCase() === name);
  return typeof entry?.[1] === 'string' ? entry[1] : '';
}
