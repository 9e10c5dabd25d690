import { isObject, protocolError } from '../request/failures.ts';
import { parseJson, resultOf } from '../request/wire-result.ts';
import { handshakeError } from './handshake-error.ts';
import type {
  Disconnect,
  SubscribeRequest,
  SubscriptionEvents,
  TransportOptions,
} from './transport.ts';
import { Watchdog } from './watchdog.ts';

const PROTOCOL = 'graphql-transport-ws';
const HANDSHAKE_MS = 10_000;

/** Close codes of the protocol and of the server. */
const TOKEN_REFUSED = new Set([4401, 4403]);
const TRY_AGAIN_LATER = 1013;
const TRY_AGAIN_SECONDS = 5;
// The message is too large or invalid, or the protocol differs: a new socket would be closed in the same way.
const FATAL = new Set([1009, 4400, 4406, 4409]);

export interface SocketTransportOptions extends TransportOptions {
  readonly WebSocket: typeof globalThis.WebSocket;
  /**
   * When requests are sent. After `opening` they go out together with the first message, which saves a round trip. After the
   * `acknowledgement` the transport is known to be alive.
   */
  readonly sendsAfter: 'opening' | 'acknowledgement';
}

/** One WebSocket with the protocol graphql-transport-ws. When it is lost, the caller decides what replaces it. */
export class SocketTransport {
  readonly #options: TransportOptions;
  readonly #socket: WebSocket;
  readonly #subscriptions = new Map<string, SubscriptionEvents>();
  /** The messages that wait, by the ids of their subscriptions. */
  readonly #waiting = new Map<string, Message>();
  #isReady = false;
  #lastId = 0;
  #cancelHandshake: () => void;
  /** Null before the acknowledgement. */
  #watchdog: Watchdog | null = null;
  #isOver = false;

  /** Opens the socket at the endpoint's address. Throws if the platform refuses the socket. */
  constructor({ WebSocket, sendsAfter, ...options }: SocketTransportOptions) {
    const { environment, url, token, events } = options;
    const socket = new WebSocket(url.replace(/^http/, 'ws'), PROTOCOL);
    this.#options = options;
    this.#socket = socket;
    const payload = { authorization: `Bearer ${token}` };
    socket.addEventListener('open', () => {
      // Android opens a socket even if it was closed before.
      if (this.#isOver) return this.#shut();
      events.opened?.();
      this.#send({ type: 'connection_init', payload });
      if (sendsAfter === 'opening') this.#sendWaiting();
    });
    socket.addEventListener('message', ({ data }) => this.#take(data));
    socket.addEventListener('close', (event) => this.#lost(disconnectOf(event)));
    // Without a listener the `ws` package throws the error, also if the socket is closed while it opens.
    socket.addEventListener('error', (event) => this.#lost(broken(reasonOf(event))));
    const lost = () => this.#lost(broken('the WebSocket did not open in time'));
    this.#cancelHandshake = environment.after(HANDSHAKE_MS, lost);
  }

  /** Begins a subscription. The returned function ends it. */
  start({ document, variables }: SubscribeRequest, events: SubscriptionEvents): () => void {
    this.#lastId += 1;
    const id = String(this.#lastId);
    // The protocol demands a `query`, even if a document id takes its place.
    const payload = { query: '', ...document, ...(isObject(variables) && { variables }) };
    const message = { id, type: 'subscribe', payload };
    this.#subscriptions.set(id, events);
    if (this.#isReady) this.#send(message);
    else this.#waiting.set(id, message);
    return () => {
      const isOpen = this.#subscriptions.delete(id);
      const wasSent = !this.#waiting.delete(id);
      if (isOpen && wasSent) this.#send({ id, type: 'complete' });
    };
  }

  /** Checks whether the transport is alive, for example after a sleep. Returns false if a heartbeat is overdue. */
  check(): boolean {
    return this.#watchdog?.check() ?? true;
  }

  /** Closes the transport, and reports nothing more. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelHandshake();
    this.#watchdog?.stop();
    this.#subscriptions.clear();
    this.#shut();
  }

  #shut(): void {
    try {
      this.#socket.close(1000);
    } catch {
      // The socket is already closed.
    }
  }

  #take(text: unknown): void {
    if (this.#isOver) return;
    this.#watchdog?.received();
    // A text that is not a message has no type, and ends the transport below.
    const { type, id, payload }: Message = Object(parseJson(String(text)));
    const events = this.#subscriptions.get(String(id));
    switch (type) {
      case 'connection_ack':
        this.#acknowledged();
        break;
      case 'ping':
        this.#send({ type: 'pong' });
        break;
      case 'pong':
        break;
      case 'next':
        events?.next(resultOf(payload));
        break;
      case 'error':
      case 'complete':
        this.#subscriptions.delete(String(id));
        this.#waiting.delete(String(id));
        events?.ended(resultOf({ errors: payload }).errors);
        break;
      default:
        this.#lost({ kind: 'broken' });
    }
  }

  #sendWaiting(): void {
    this.#isReady = true;
    for (const message of this.#waiting.values()) this.#send(message);
    this.#waiting.clear();
  }

  #acknowledged(): void {
    if (this.#watchdog !== null) return;
    this.#cancelHandshake();
    const { environment, heartbeatMs, events } = this.#options;
    this.#watchdog = new Watchdog({
      environment,
      heartbeatMs,
      ask: () => this.#send({ type: 'ping' }),
      onDead: () => this.#lost({ kind: 'broken' }),
    });
    events.acknowledged();
    this.#sendWaiting();
  }

  #send(message: Message): void {
    if (this.#isOver) return;
    try {
      this.#socket.send(JSON.stringify(message));
    } catch {
      // The socket is closing, and its `close` event reports that.
    }
  }

  #lost(disconnect: Disconnect): void {
    if (this.#isOver) return;
    this.close();
    this.#options.events.lost(disconnect);
  }
}

/** A message of the protocol. */
interface Message {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly payload?: unknown;
}

function disconnectOf(event: unknown): Disconnect {
  const { code, reason } = Object(event);
  if (TOKEN_REFUSED.has(Number(code))) return { kind: 'token-refused' };
  if (FATAL.has(Number(code)))
    return { kind: 'fatal', error: protocolError(`The WebSocket was closed: ${code} ${reason}.`) };
  const why = `the WebSocket was closed, ${[code, reason].join(' ').trim()}`;
  const error = handshakeError(why, { closeCode: code });
  if (code === TRY_AGAIN_LATER) return { kind: 'broken', retryAfter: TRY_AGAIN_SECONDS, error };
  return { kind: 'broken', error };
}

function broken(reason: string): Disconnect {
  return { kind: 'broken', error: handshakeError(reason) };
}

/** Browsers give no reason, so that pages cannot explore a network. */
function reasonOf(event: unknown): string {
  return String(Object(event).message || 'the WebSocket was refused');
}
