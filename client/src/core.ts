import type { Environment } from './environment.ts';
import type { TradingGraphError } from './errors.ts';
import type { Operation } from './operation.ts';
import type { Signal } from './platform.ts';
import type { Exchanger } from './request/exchange.ts';
import type { Result } from './result.ts';
import type { ServerTime } from './server-clock.ts';
import type { SignIn } from './sign-in.ts';
import type { ClientStorage } from './storage.ts';

export type { Result };

/** The options of a query or a mutation. */
export interface RequestOptions<Data = unknown> {
  readonly signal?: Signal | undefined;
  /**
   * Whether an unanswered request is sent again. By default queries are. A mutation never is. The client cannot see the
   * kind of a trusted document: set true only for a query.
   */
  readonly repeats?: boolean | undefined;
  /**
   * The login that the request is made for. If another account is signed in by then, the request is not sent, and the error
   * is `SIGNED_OUT`.
   */
  readonly account?: string | undefined;
  /** Sends no token, like the request that signs in. */
  readonly anonymous?: boolean | undefined;
  /** Sends this token instead of calling the client's `token`; null sends none. It is not renewed. */
  readonly token?: string | null | undefined;
  /**
   * The time for all attempts: 30 s for a request that is repeated (an attempt ends after 15 s of silence), 60 s for one
   * that is not. An answer that is still arriving is not cut.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Called each time a part of the answer has arrived, with all parts so far. A fragment with `@defer` on the root of a
   * query is such a part. The promise resolves with the whole answer.
   */
  readonly onPart?: ((soFar: Result<Data>) => void) | undefined;
}

/** Options that only the client's own parts use. */
export interface OwnRequestOptions<Data = unknown> extends RequestOptions<Data> {
  /** Called right before the request is sent, after all waiting. If `leaving` throws, the request is not sent. */
  readonly leaving?: (() => void) | undefined;
  /** Sends the request in another way than by the platform's `fetch`. */
  readonly exchange?: Exchanger | undefined;
}

/** Receives the events of a subscription. */
export interface Sink<Data> {
  next(result: Result<Data>): void;
  /** The subscription has ended: by the server, or because of a permanent error. */
  ended(error: TradingGraphError | null): void;
  /**
   * Called when the connection is lost, and again if the reason changes before another connection opens. The lost connection
   * delivers nothing after this call. When the server has acknowledged another one, `connected` is called. The error is the
   * server's reason, or the reason why no connection opens.
   */
  disconnected?(error: TradingGraphError | null): void;
  connected?(): void;
}

/** Events that only the client's own lists need. */
export interface OwnSink<Data> extends Sink<Data> {
  /** Called at each step of a socket that opens. */
  progressed?(): void;
  /** Two sockets in a row were refused, or the platform has none: the next socket may open late, or never. */
  unreachable?(): void;
}

/** `former` is the login before: null if nobody was signed in, undefined if the server had not named it. */
export type AccountListener = (login: string | null, former: string | null | undefined) => void;

/** The state and functions that the parts of the client share. */
export interface Core {
  readonly environment: Environment;
  readonly storage: ClientStorage | null;
  readonly serverClock: ServerTime;
  /** The longest time between two events of a live list. */
  readonly heartbeatSeconds: number;
  /** Never rejects: failures are errors of the result. */
  request<Data, Variables>(
    operation: Operation<Data, Variables>,
    variables: Variables,
    options?: OwnRequestOptions<Data>,
  ): Promise<Result<Data>>;
  /**
   * Subscribes over the shared WebSocket, and again after it was lost. Each time `variables` is called. Returns a function
   * that ends the subscription.
   */
  subscribe<Data, Variables>(
    operation: Operation<Data, Variables>,
    variables: () => Variables,
    sink: OwnSink<Data>,
  ): () => void;
  /**
   * The login of the signed-in account, as the server says; memoized per token. Rejects with a TradingGraphError. An
   * `exchange` replaces the usual way of sending: then the request is sent even if another one waits for the same answer.
   */
  account(signal?: Signal, exchange?: Exchanger): Promise<string>;
  /**
   * Calls the listener when another account signs in, or the user signs out. The former account's connection is closed by
   * then, and new subscriptions belong to the new account. Returns a function that removes the listener.
   */
  onAccountChange(listener: AccountListener): () => void;
  /** The login that the server named last; null while it is unknown, or no user is signed in. */
  readonly login: string | null;
  /** The present sign-in. An operation remembers the sign-in at its start, and never runs for another account. */
  readonly signIn: SignIn;
  readonly isDisposed: boolean;
  onDispose(task: () => void): void;
}
