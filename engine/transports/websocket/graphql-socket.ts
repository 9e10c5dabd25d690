import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, type Message, MessageType } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Slot } from '../../../lib/limits/slot.ts';
import { TokenBucket } from '../../../lib/limits/token-bucket.ts';
import { tooComplex } from '../../documents/structure.ts';
import { OverLimitError } from '../../operation/over-limit-error.ts';
import type { FrameWatcher, ReceiveBuffer, SendFault } from '../connections/receive-buffer.ts';
import { CLIENT_NAME, CLIENT_VERSION } from '../requests/client-names.ts';
import { Connection, type SocketSettings } from './connection.ts';
import { readMessage } from './messages.ts';
import { isInflated, unpackAtOnce } from './packed-messages.ts';
import { stopAtBrokenFrame } from './private-ws.ts';
import { SocketOperation } from './socket-operation.ts';

const INIT_TIMEOUT_MS = 3_000;
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

/** A WebSocket that speaks graphql-transport-ws, from its upgrade to its close. `CLOSINGS` lists how it may end. */
export class GraphQLSocket implements FrameWatcher {
  readonly #settings: SocketSettings;
  readonly #connection: Connection;
  readonly #buffer: ReceiveBuffer;
  readonly #freeFrames: TokenBucket;
  readonly #initTimer: NodeJS.Timeout;
  #isInitialized = false;
  /** The operations whose results the client waits for, by their ids. */
  readonly #operations = new Map<string, SocketOperation>();
  /** These, and those from which it has unsubscribed and that have not ended. */
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
    this.#connection = connection;
    this.#freeFrames = new TokenBucket(FREE_FRAMES, clock.now());
    this.#buffer = received.of(connection.stream);
    this.#buffer.address = connection.caller.client?.address ?? '';
    this.#buffer.upgraded(head, this);
    const leaveKeepAlive = keepAlive.join(connection);
    this.#initTimer = setTimeout(() => connection.close('noInit'), INIT_TIMEOUT_MS);
    socket.on('message', (data) => this.#received(String(data)));
    socket.on('pong', () => keepAlive.received(connection));
    socket.on('error', (error) => this.#broke(error));
    socket.once('close', (code) => {
      leaveKeepAlive();
      this.#closed(code);
    });
    if (socket.protocol !== GRAPHQL_TRANSPORT_WS_PROTOCOL) connection.close('otherProtocol');
    lasting.add(this);
  }

  /** Counts a frame, or a part of one, against its client. */
  arrived(bytes: number): void {
    const { clock, countMessage, received, refused } = this.#settings;
    if (bytes < LARGE_BYTES && this.#freeFrames.take(1, clock.now()) >= 0) return;
    if (countMessage(this.#connection.caller, bytes) === 'within') return;
    refused('messages');
    received.cut(this.#buffer, 'rate');
  }

  #received(text: string): void {
    const connection = this.#connection;
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
    const message = readMessage(text);
    try {
      if (message === null) connection.close('unreadable');
      else this.#handle(message, text.length);
    } catch (error) {
      // The payload of a ping nests too deep to be echoed.
      if (error instanceof RangeError) connection.close('unreadable');
      else this.#failed(error);
    }
  }

  #handle(message: Message, bytes: number): void {
    switch (message.type) {
      case MessageType.ConnectionInit:
        this.#initialize(message.payload);
        return;
      case MessageType.Ping: {
        const { payload } = message;
        this.#connection.say({ type: MessageType.Pong, ...(payload && { payload }) });
        return;
      }
      case MessageType.Pong:
        return;
      case MessageType.Subscribe:
        this.#subscribe(message.id, message.payload, bytes);
        return;
      case MessageType.Complete:
        this.#leave(this.#operations.get(message.id));
        return;
      default:
        // A message that only a server may send.
        this.#connection.close('unreadable');
    }
  }

  #initialize(params: unknown): void {
    const connection = this.#connection;
    if (this.#isInitialized) {
      connection.close('secondInit');
      return;
    }
    this.#isInitialized = true;
    clearTimeout(this.#initTimer);
    const authorization = textIn(params, 'authorization');
    if (authorization.length > MAX_AUTHORIZATION_LENGTH) {
      connection.close('longToken');
      return;
    }
    const headers = headersIn(params, this.#settings.forwarding.names);
    if (headers === null) {
      connection.close('header');
      return;
    }
    connection.initialize(authorization, headers);
    if (textIn(params, ON_TOKEN_END) === 'error') connection.onTokenEnd = 'error';
    if (textIn(params, INCREMENTAL_SPEC) === 'v0.2') connection.partsFormat = 'incrementalSpec';
    connection.client ??= this.#settings.clientNames.of(
      textIn(params, CLIENT_NAME),
      textIn(params, CLIENT_VERSION),
    );
    connection.say({ type: MessageType.ConnectionAck });
  }

  #subscribe(id: string, payload: object, bytes: number): void {
    const connection = this.#connection;
    if (!this.#isInitialized) {
      connection.close('hastySubscribe');
      return;
    }
    if (this.#operations.has(id)) {
      connection.close('idInUse', `Subscriber for ${id} already exists`);
      return;
    }
    const operation = new SocketOperation(id, bytes, connection, this.#settings);
    const refusal = this.#refusalOf(id);
    if (refusal !== null) {
      operation.refuse(refusal);
      return;
    }
    this.#operations.set(id, operation);
    this.#unfinished.add(operation);
    operation
      .begin(payload)
      .then((results) => {
        this.#closeIfIdle();
        // Its payload is not retained while its events are followed.
        return results === null ? undefined : operation.follow(results);
      })
      .catch((error: unknown) => this.#failed(error, operation))
      .finally(() => {
        // The client may have begun another operation under the same id.
        if (this.#operations.get(id) === operation) this.#operations.delete(id);
        this.#unfinished.delete(operation);
        this.#closeIfIdle();
      });
  }

  #refusalOf(id: string): GraphQLError | null {
    // The id is retained as long as its operation lasts.
    if (id.length > MAX_ID_LENGTH)
      return tooComplex('characters of an id', id.length, MAX_ID_LENGTH);
    const open = this.#unfinished.size + 1;
    if (open > MAX_OPERATIONS) return tooComplex('operations of a socket', open, MAX_OPERATIONS);
    return this.#connection.claim() ? null : new OverLimitError('sockets');
  }

  #leave(operation: SocketOperation | undefined): void {
    if (operation === undefined) return;
    this.#operations.delete(operation.id);
    // Its client may begin another in the same flight.
    if (operation.summary.type === 'subscription') this.#unfinished.delete(operation);
    operation.leave().catch((error: unknown) => this.#failed(error));
  }

  /** Closes the socket, once its answers are sent: its client reconnects, and reaches another replica. */
  restart(): void {
    this.#isRestarting = true;
    this.#closeIfIdle();
  }

  #closeIfIdle(): void {
    if (!this.#isRestarting) return;
    for (const { isAwaited } of this.#unfinished) if (isAwaited) return;
    this.#connection.close('restart');
  }

  /** Whether nobody has proved whose it is, and it waits for nothing: then it makes room for others. */
  get isIdle(): boolean {
    return this.#connection.slot.owner().kind === 'address' && this.#unfinished.size === 0;
  }

  /** Closes it for what it sends. */
  cut(fault: SendFault): void {
    this.#connection.close(fault);
    this.#settings.clock.after(LINGER_MS, () => this.#connection.socket.terminate());
  }

  /** A frame is too large or malformed: `ws` has closed the socket with the right code already. */
  #broke(error: NodeJS.ErrnoException): void {
    const { log, received } = this.#settings;
    log.debug({ err: error }, 'a WebSocket failed');
    if (error.code === PIECES_ERROR) received.cut(this.#buffer, 'pieces');
  }

  #failed(error: unknown, operation: SocketOperation | null = null): void {
    const requestId = operation?.summary.requestId;
    this.#settings.log.error({ err: error, requestId }, 'a WebSocket message could not be handled');
    operation?.failed();
    this.#connection.close('fault');
  }

  #closed(code: number): void {
    clearTimeout(this.#initTimer);
    this.#settings.lasting.delete(this);
    this.#settings.metrics.socketClosed(code);
    this.#connection.unread.release();
    for (const operation of this.#operations.values()) this.#leave(operation);
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
