import type { Sink } from '../core.ts';
import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { withinTime } from '../request/deadline.ts';
import { requestedDocument } from '../request/document.ts';
import { disposedError } from '../request/failures.ts';
import type { Tokens } from '../request/tokens.ts';
import { Connection } from './connection.ts';
import { handshakeError, type Obstacle, withObstacle } from './handshake-error.ts';
import { pauseWhileHidden } from './pause-while-hidden.ts';
import { SocketTransport } from './socket-transport.ts';
import { isEventStream, StreamTransport } from './stream-transport.ts';
import { Subscription } from './subscription.ts';
import type { TransportMemory } from './transport-memory.ts';

export interface SubscriptionsOptions {
  readonly environment: Environment;
  readonly memory: TransportMemory;
  readonly tokens: Tokens;
  readonly url: () => string;
  /** The longest time between two events, as the subscriptions ask for it. */
  readonly heartbeatMs: number;
  /** The time for which the app is hidden before the transports are closed. */
  readonly hiddenMs: number;
  readonly prepare: (token: string) => Promise<void>;
  readonly onToken: (token: string) => void;
}

const HANDSHAKES_UNTIL_PROBE = 2;
const HANDSHAKES_UNTIL_SOCKETS = 2;
const PROBE_MS = 10_000;
const CROWDED = 'other lists have all connections that HTTP/1.1 allows beside those of requests';

/**
 * All subscriptions: over one WebSocket that they share, or an event stream each where WebSockets are blocked. That is
 * remembered for the client's life, and in storage for a day.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #socket: Connection | null;
  readonly #streams = new Map<Subscription, Connection>();
  #isBlocked: boolean;
  #recalling: Promise<void> | null = null;
  /** Whether the storage says that WebSockets are blocked, or the platform prefers streams, and none has opened since. */
  #isRemembered: boolean;
  #isProbing = false;
  /** Whether an event stream has opened since sockets began to fail, and whether the handshake of now began after it. */
  #canStream = false;
  #obstacle: Obstacle | null = null;
  #isLastTry = false;
  /** Whether event streams, which the platform prefers, have brought data since they last took a socket's place. */
  #hasStreamed = false;
  #isPaused = false;
  readonly #disposal = new AbortController();
  #unlisten: (() => void) | null = null;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    const { url, environment } = options;
    const { prefersStreams = false } = environment;
    // An app may give the class of a platform that has none.
    const WebSocket = environment.WebSocket ?? null;
    this.#isBlocked = WebSocket === null || prefersStreams;
    this.#isRemembered = prefersStreams;
    const onSlow = () => void this.#probe(true);
    this.#socket =
      WebSocket &&
      new Connection({
        ...this.#connectionOptions(),
        open: (token, events) =>
          new SocketTransport({
            ...options,
            url: url(),
            WebSocket,
            token,
            events,
            onSlow,
            sendsAfter: 'opening',
          }),
        prepare: async (token) => {
          this.#isLastTry = this.#canStream;
          this.#recalling ??= this.#recall();
          await Promise.all([options.prepare(token), this.#recalling]);
        },
        onAcknowledged: () => {
          if (this.#isRemembered) this.#options.memory.forget();
          this.#isRemembered = prefersStreams;
          this.#canStream = false;
          this.#obstacle = null;
          // They may have failed only because the network was gone, or the server restarted.
          if (this.#hasStreamed) void this.#probe(true);
        },
        explained: (error) => withObstacle(error, this.#obstacle),
        onFailedHandshake: (failures) => {
          // The ones before may have met a captive portal that is gone by now.
          if (this.#isLastTry) this.#streamsWon();
          else if (failures >= HANDSHAKES_UNTIL_PROBE) void this.#probe(false);
        },
      });
  }

  subscribe<Data, Variables>(
    operation: Operation<Data, Variables>,
    variables: () => Variables,
    sink: Sink<Data>,
  ): () => void {
    const { environment } = this.#options;
    // The type of the data follows from the operation; it cannot be checked here.
    const untyped = sink as Sink<unknown>;
    const subscription = new Subscription(requestedDocument(operation), variables, {
      sink: untyped,
      environment,
    });
    if (this.#disposal.signal.aborted) {
      subscription.end(disposedError());
      return () => {};
    }
    this.#add(subscription);
    return () => (this.#streams.get(subscription) ?? this.#socket)?.remove(subscription);
  }

  /** Opens all transports anew, as another account needs it. */
  restart(): void {
    for (const connection of this.#connections()) connection.restart();
  }

  tokenChanged(): void {
    for (const connection of this.#connections()) connection.tokenChanged();
  }

  endAll(error: TradingGraphError): void {
    // Those that wait for a connection end first: they would begin where the others end.
    for (const connection of [...this.#connections()].reverse()) connection.endAll(error);
  }

  dispose(): void {
    this.#disposal.abort();
    this.endAll(disposedError());
  }

  #add(subscription: Subscription): void {
    // The app may leave any of those that change lines when it hears of it.
    if (subscription.isOver) return;
    const { url, environment, hiddenMs } = this.#options;
    this.#unlisten ??= pauseWhileHidden(environment, hiddenMs, {
      paused: () => {
        this.#isPaused = true;
        this.restart();
      },
      returned: (why) => {
        this.#isPaused = false;
        for (const connection of this.#connections()) connection.returned(why);
      },
    });
    if (!this.#isBlocked && this.#socket !== null) {
      this.#socket.add(subscription);
      return;
    }
    const hasRoom = () => {
      const at = [...this.#streams.values()].indexOf(connection);
      return at < (environment.maxStreams?.(url()) ?? Number.POSITIVE_INFINITY);
    };
    const connection: Connection = new Connection({
      ...this.#connectionOptions(),
      isPaused: () => this.#isPaused || !hasRoom(),
      open: (token, events) => new StreamTransport({ ...this.#options, url: url(), token, events }),
      onData: () => {
        this.#hasStreamed = environment.prefersStreams === true;
      },
      onFailedHandshake: (failures) => {
        if (failures >= HANDSHAKES_UNTIL_SOCKETS) this.#trySockets();
      },
    });
    this.#streams.set(subscription, connection);
    connection.add(subscription);
    if (!hasRoom()) subscription.failing(handshakeError(CROWDED));
  }

  /** No listener is left where nothing is subscribed to. */
  #rest(): void {
    for (const [subscription, { size }] of this.#streams) {
      if (size === 0) this.#streams.delete(subscription);
    }
    for (const stream of this.#streams.values()) stream.resume();
    if (this.#connections().some(({ size }) => size > 0)) return;
    this.#unlisten?.();
    this.#unlisten = null;
    this.#isPaused = false;
  }

  #connections(): readonly Connection[] {
    return [...(this.#socket ? [this.#socket] : []), ...this.#streams.values()];
  }

  #connectionOptions() {
    const { environment, tokens, prepare, onToken } = this.#options;
    const isPaused = () => this.#isPaused;
    return { environment, tokens, prepare, isPaused, onToken, onEnded: () => this.#rest() };
  }

  /** Looks up, before the first socket is opened, whether an earlier run of the app found that WebSockets are blocked. */
  async #recall(): Promise<void> {
    if (!(await this.#options.memory.prefersStreams()) || this.#disposal.signal.aborted) return;
    this.#isRemembered = true;
    this.#takeStreams();
  }

  /** The device may be in another network today, or its `fetch` give no streams. Until a socket opens the memory stays: a captive portal lets neither through. */
  #trySockets(): void {
    if (!this.#isRemembered || this.#disposal.signal.aborted || this.#socket === null) return;
    this.#isBlocked = false;
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const subscription of streams.flatMap((stream) => stream.release())) {
      this.#add(subscription);
    }
  }

  /** Changes to event streams where they open and WebSockets do not: at once where a handshake hangs, else when the next one fails. */
  async #probe(isHanging: boolean): Promise<void> {
    if (this.#isProbing || this.#isBlocked || this.#disposal.signal.aborted) return;
    this.#isProbing = true;
    const obstacle = await this.#obstacleToStreams();
    this.#isProbing = false;
    const isSettled = this.#isBlocked || (this.#socket?.isOpen && !this.#hasStreamed);
    if (this.#disposal.signal.aborted || isSettled) return;
    this.#obstacle = obstacle;
    this.#canStream = obstacle === null;
    if (this.#canStream && isHanging) this.#streamsWon();
  }

  #streamsWon(): void {
    this.#options.memory.streamsWon();
    this.#takeStreams();
  }

  #takeStreams(): void {
    this.#isBlocked = true;
    this.#canStream = false;
    this.#hasStreamed = false;
    for (const subscription of this.#socket?.release() ?? []) this.#add(subscription);
  }

  /** Null where an event stream opens. */
  async #obstacleToStreams(): Promise<Obstacle | null> {
    const { environment, url } = this.#options;
    return withinTime(environment, PROBE_MS, this.#disposal.signal, async ({ signal }) => {
      const response = await environment.fetch(url(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: '{"query":"{__typename}"}',
        signal,
      });
      const isStream = isEventStream(response);
      const isRead = typeof response.body?.getReader === 'function';
      await response.text();
      const { status } = response;
      if (!isStream) return { said: `An event stream is answered with HTTP ${status}.`, status };
      return isRead ? null : { said: 'An event stream opens, which this `fetch` cannot read.' };
    }).catch(() => ({ said: 'An event stream is not answered either.' }));
  }
}
