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
  /** Whether an unanswered request is sent again. Queries are, mutations never. With a trusted document, true says that it is a query. */
  readonly repeats?: boolean | undefined;
  /**
   * The login that the request is made for. Where another one is signed in by then, nothing is sent and the error is
   * `SIGNED_OUT`.
   */
  readonly account?: string | undefined;
  /** Sends no token, as signing in does. */
  readonly anonymous?: boolean | undefined;
  /** Sends this token, or none (null), in place of that of `token`, which is not asked for. It is not renewed. */
  readonly token?: string | null | undefined;
  /**
   * The time for all attempts: 30 s for what is repeated, in each of which 15 s of silence are enough, 60 s for what is not. An
   * answer that flows is not cut.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Called with the answer so far whenever a part of it has come: fragments with `@defer` on the root of a query follow when
   * they are whole. The promise resolves with all of it.
   */
  readonly onPart?: ((soFar: Result<Data>) => void) | undefined;
}

/** Options that only the client's own parts use. */
export interface OwnRequestOptions<Data = unknown> extends RequestOptions<Data> {
  /** Called right before anything of the operation leaves, after all waiting; what it throws keeps it from leaving. */
  readonly leaving?: (() => void) | undefined;
  /** Sends it another way than by the platform's `fetch`. */
  readonly exchange?: Exchanger | undefined;
}

/** Receives the events of a subscription. */
export interface Sink<Data> {
  next(result: Result<Data>): void;
  /** The subscription is over: by the server, or for good after an error that does not pass. */
  ended(error: TradingGraphError | null): void;
  /**
   * Called whenever the line is lost and while it is tried again; `connected` follows with the next acknowledgement. No
   * event of the line before comes in between, or later. The error is the server's, where it has said why, or says why no
   * line can be opened, as often as that is another reason.
   */
  disconnected?(error: TradingGraphError | null): void;
  connected?(): void;
}

/** Events that only the client's own lists need. */
export interface OwnSink<Data> extends Sink<Data> {
  /** A socket is on its way, and has come further. */
  progressed?(): void;
  /** Two sockets in a row were refused, or the platform has none: the next one may come late, or never. */
  unreachable?(): void;
}

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
   * Subscribes over the one shared WebSocket. After a lost line it subscribes again, with the variables that the function
   * returns then. Returns a function that ends it.
   */
  subscribe<Data, Variables>(
    operation: Operation<Data, Variables>,
    variables: () => Variables,
    sink: OwnSink<Data>,
  ): () => void;
  /**
   * The login of the signed-in account, as the server says; memoized per token. Rejects with a TradingGraphError. Asked
   * over the exchange where one is given, and not over the line of a question that is waiting already.
   */
  account(signal?: Signal, exchange?: Exchanger): Promise<string>;
  /**
   * Calls back when another account, or none, is signed in, and the line of the one before is closed: what is subscribed
   * from then on is the new one's. Returns a function that ends it.
   */
  onAccountChange(listener: (login: string | null) => void): () => void;
  /** The login that the server named last; null while it is unknown, or no user is signed in. */
  readonly login: string | null;
  /** Noted when something begins that is not to be carried out for another account. */
  readonly signIn: SignIn;
  readonly isDisposed: boolean;
  onDispose(task: () => void): void;
}
