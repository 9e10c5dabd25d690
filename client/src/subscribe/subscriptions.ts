import type { Core, OwnSink } from '../core.ts';
import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { requestedDocument } from '../request/document.ts';
import { disposedError, isLate } from '../request/failures.ts';
import { PING } from '../request/ping.ts';
import type { Tokens } from '../request/tokens.ts';
import { Connection } from './connection.ts';
import { handshakeError } from './handshake-error.ts';
import { pauseWhileHidden } from './pause-while-hidden.ts';
import { SocketTransport } from './socket-transport.ts';
import { Subscription } from './subscription.ts';

export interface SubscriptionsOptions {
  readonly environment: Environment;
  readonly tokens: Tokens;
  readonly url: string;
  /** The longest time between two events, which the subscriptions demand of the server. */
  readonly heartbeatMs: number;
  /** The time for which the app is hidden before the transport is closed. */
  readonly hiddenMs: number;
  readonly request: Core['request'];
  readonly onToken: (token: string) => void;
}

const DIAGNOSIS_MS = 5_000;

/** All subscriptions, over one WebSocket that they share. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  /** Null if the platform has no WebSocket. */
  readonly #connection: Connection | null;
  #isPaused = false;
  readonly #disposal = new AbortController();
  #unlisten: (() => void) | null = null;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    const { environment, url, tokens, onToken, heartbeatMs } = options;
    const WebSocket = environment.WebSocket ?? null;
    this.#connection =
      WebSocket &&
      new Connection({
        environment,
        tokens,
        onToken,
        open: (token, events) => {
          const own = { WebSocket, token, events, sendsAfter: 'opening' } as const;
          return new SocketTransport({ environment, url, heartbeatMs, ...own });
        },
        isPaused: () => this.#isPaused,
        onEnded: () => this.#unlistenAll(),
        diagnose: (error) => this.#diagnose(error),
      });
  }

  subscribe<Data, Variables>(
    operation: Operation<Data, Variables>,
    variables: () => Variables,
    sink: OwnSink<Data>,
  ): () => void {
    const { environment } = this.#options;
    // The type of the data follows from the operation; it cannot be checked here.
    const untyped = sink as OwnSink<unknown>;
    const document = requestedDocument(operation);
    const subscription = new Subscription(document, variables, { sink: untyped, environment });
    const connection = this.#connection;
    if (this.#disposal.signal.aborted) subscription.end(disposedError());
    else if (connection !== null) {
      this.#listen(connection);
      connection.add(subscription);
      return () => connection.remove(subscription);
    } else {
      subscription.failing(handshakeError('this platform has no WebSocket'));
      subscription.unreachable();
    }
    return () => subscription.cancel();
  }

  /** Opens a new transport, because the account has changed. */
  restart(): void {
    this.#connection?.restart();
  }

  tokenChanged(): void {
    this.#connection?.tokenChanged();
  }

  endAll(error: TradingGraphError): void {
    this.#connection?.endAll(error);
  }

  dispose(): void {
    this.#disposal.abort();
    this.endAll(disposedError());
  }

  #listen(connection: Connection): void {
    const { environment, hiddenMs } = this.#options;
    this.#unlisten ??= pauseWhileHidden(environment, hiddenMs, {
      paused: () => {
        this.#isPaused = true;
        connection.restart();
      },
      returned: (why) => {
        this.#isPaused = false;
        connection.returned(why);
      },
    });
  }

  /** Removes the platform's listeners when no subscription is left. */
  #unlistenAll(): void {
    this.#unlisten?.();
    this.#unlisten = null;
    this.#isPaused = false;
  }

  /** Explains why no socket opens. If a plain request fails too, its error says more. If not, only sockets are refused. */
  async #diagnose(error: TradingGraphError): Promise<TradingGraphError> {
    const { signal } = this.#disposal;
    const options = { anonymous: true, repeats: false, timeoutMs: DIAGNOSIS_MS, signal };
    const { data, errors } = await this.#options.request(PING, undefined, options);
    const [failure] = errors;
    const hasFailed = data === null && failure?.code === 'NETWORK';
    return hasFailed && !isLate(failure) ? failure : error;
  }
}
