import type { Environment } from '../environment.ts';
import { TradingGraphError } from '../errors.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import { withinTime } from './deadline.ts';
import { asTradingGraphError, disposedError, networkError, signedOutError } from './failures.ts';
import { untilAborted } from './until-aborted.ts';

/** Asks the app for its token. With `force` the token must be new, because the last one was refused. */
export type TokenSource = (options: {
  readonly force: boolean;
}) => string | null | undefined | Promise<string | null | undefined>;

export interface TokensOptions {
  readonly source: TokenSource;
  readonly environment: Environment;
  /** Called once each time the user is signed out. */
  readonly onSignedOut: (error: TradingGraphError) => void;
  readonly onToken: (token: string) => void;
}

/** A call of the app's function. */
interface TokenCall {
  readonly force: boolean;
  readonly token: Promise<string>;
}

const MAX_REFUSED = 4; // Refused tokens that are remembered.
const COOL_DOWN_MS = 5_000; // After a first failed renewal. It doubles with each further failure.
const MAX_COOL_DOWN_MS = 60_000;
const DEADLINE_MS = 30_000;
const SILENT = '`token` has not answered in 30 s: its own requests have to be `anonymous`.';
/** The error of a client on a server that meets a second user. */
export const ONE_USER: string =
  'A client is for one user: a server makes one for each request by `forRequest`; a program of one user sets `environment: { isServer: false }`.';
const NO_TEXT = '`token` does not return a text.';

/** The tokens of the app. All waiting requests share one call of the app, and one renewal after a refusal by the server. */
export class Tokens {
  readonly #options: TokensOptions;
  readonly #source: TokenSource;
  #callUnderWay: TokenCall | null = null;
  /** Aborted when the app is asked again, so that no request waits for an outdated answer. */
  #replaced = new AbortController();
  #current: string | null = null;
  /** The last refused tokens, oldest first; the app may return them again without `force`. */
  #refused: readonly string[] = [];
  #isSignedOut = false;
  #failure: { readonly error: TradingGraphError; readonly until: number } | null = null;
  #failures = 0;
  #isDisposed = false;
  /** On a server: the renewals under way, by the refused token. Only requests with that token share its renewal. */
  #renewals = new Map<string, Promise<string>>();
  /** On a server: the last token that the app returned; null once the tokens turned out to belong to several users. */
  #given: string | null | undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
    const { source, environment } = options;
    this.#source = environment.isServer ? (asked) => this.#compared(asked) : source;
  }

  /** The tokens for one request. On a server, which may serve several users, requests do not share the app's answers. */
  forCaller(): Tokens {
    if (!this.#options.environment.isServer) return this;
    const { onToken } = this.#options;
    const own = new Tokens({
      ...this.#options,
      source: this.#source,
      onToken: (token) => {
        this.#isSignedOut = false;
        onToken(token);
      },
      // If several requests with one token are refused, the user is signed out once.
      onSignedOut: (error) => this.#signOut(error),
    });
    own.#renewals = this.#renewals;
    return own;
  }

  /** Whether the tokens turned out to belong to several users. Always false in a browser. */
  get areOfSeveralUsers(): boolean {
    return this.#given === null;
  }

  async #compared(asked: Parameters<TokenSource>[0]) {
    const token = await this.#options.source(asked);
    const former = this.#given;
    if (former === null) return token;
    // With `force` the same user gets another token.
    const isOther = former !== undefined && token !== former && !asked.force;
    if (isOther) console.warn(ONE_USER);
    this.#given = isOther ? null : (token ?? undefined);
    return token;
  }

  /** The token to send. Rejects with `SIGNED_OUT`, or with a retryable error if the app's function failed. */
  async get(): Promise<string> {
    this.#throwIfDisposed();
    // All requests wait for the renewal that is under way.
    return this.#unlessRefused(this.#callUnderWay ?? this.#ask(false));
  }

  /** Asks again, because the answer under way may be the former user's. */
  async changed(): Promise<string> {
    this.#throwIfDisposed();
    // The present token may belong to another account, so it must not be used in place of a refused one.
    this.#current = null;
    // Null stays: the client has met several users.
    if (this.#given) this.#given = undefined;
    return this.#unlessRefused(this.#ask(false));
  }

  /** A token other than the refused one. */
  async renewed(refused: string): Promise<string> {
    this.#throwIfDisposed();
    if (this.#callUnderWay?.force) return await this.#callUnderWay.token;
    // Another request has already renewed the token.
    if (this.#current !== null && this.#current !== refused) return this.#current;
    this.#throwInCoolDown();
    this.#noteRefused(refused);
    if (!this.#options.environment.isServer) return await this.#ask(true).token;
    const renewing = this.#renewals.get(refused) ?? this.#ask(true).token;
    this.#renewals.set(refused, renewing);
    this.#current = await renewing.finally(() => this.#renewals.delete(refused));
    return this.#current;
  }

  /** Signs out, unless another token is in use by now: the server has refused the renewed token as well. */
  refusedAgain(token: string): TradingGraphError {
    if (token !== this.#current && !this.#isSignedOut)
      return networkError('Another token has replaced the refused one.');
    const error = signedOutError('The server refuses the renewed token.');
    if (this.#current === token) {
      this.#noteRefused(token);
      this.#coolDown(error);
      this.#signOut(error);
    }
    return error;
  }

  /** Notes that the server has accepted the token. */
  accepted(token: string): void {
    if (token !== this.#current) return;
    this.#failures = 0;
    this.#failure = null;
  }

  /** The network is back, or the app is visible again: a failed renewal is retried now. */
  returned(): void {
    if (!this.#failure?.error.retryable) return;
    this.#failures = 0;
    this.#failure = null;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#replaced.abort();
  }

  /** The token of the call, or a renewed one if the server has already refused that token. */
  async #unlessRefused(call: TokenCall): Promise<string> {
    const token = await call.token;
    return this.#refused.includes(token) ? this.renewed(token) : token;
  }

  #throwIfDisposed(): void {
    if (this.#isDisposed) throw disposedError();
  }

  #noteRefused(token: string): void {
    const others = this.#refused.filter((other) => other !== token);
    this.#refused = [...others, token].slice(-MAX_REFUSED);
  }

  // An app that asks in a loop would overload the service that renews its tokens.
  #throwInCoolDown(): void {
    const failure = this.#failure;
    if (failure && this.#options.environment.uptime() < failure.until) throw failure.error;
  }

  #ask(force: boolean): TokenCall {
    this.#replaced.abort();
    const replaced = new AbortController();
    this.#replaced = replaced;
    const token = this.#answer(force, replaced.signal).finally(() => {
      if (this.#replaced === replaced) this.#callUnderWay = null;
    });
    // The requests that wait handle a failure. If none waits, the failure must not be an unhandled rejection.
    fireAndForget(token);
    this.#callUnderWay = { force, token };
    return this.#callUnderWay;
  }

  async #answer(force: boolean, replaced: AbortSignal): Promise<string> {
    const answer = await this.#call(force, replaced).catch(asRetryable);
    this.#throwIfDisposed();
    if (replaced.aborted) return this.#unlessRefused(this.#callUnderWay ?? this.#ask(false));
    if (answer instanceof TradingGraphError) {
      if (force) this.#coolDown(answer);
      throw answer;
    }
    // The app may return its token with `Bearer`, or with a line end from a file.
    const token = typeof answer === 'string' ? answer.replace(/^\s*bearer\s|\s/gi, '') : answer;
    // An app may forget to return its token, which would then be sent as `Bearer undefined`.
    if (typeof token !== 'string' || token === '' || (force && this.#refused.includes(token))) {
      const isMistake = token != null && typeof token !== 'string';
      const error = signedOutError(isMistake ? NO_TEXT : undefined);
      if (force) this.#coolDown(error);
      this.#signOut(error);
      throw error;
    }
    if (!this.#refused.includes(token)) {
      // Without `force` the token may belong to another account, so the list of refused tokens starts again.
      if (!force) this.#refused = [];
      this.#take(token);
    }
    return token;
  }

  /** Calls the app's function. It has a deadline, because all requests wait for the token. */
  #call(force: boolean, replaced: AbortSignal): Promise<string | null | undefined> {
    const { environment } = this.#options;
    // Called in a later microtask, when `#callUnderWay` is set: a request that the app's function makes joins this call.
    const answer = Promise.resolve().then(() => this.#source({ force }));
    return withinTime(environment, DEADLINE_MS, replaced, ({ signal }) =>
      untilAborted(answer, signal, () => networkError(SILENT)),
    );
  }

  #take(token: string): void {
    this.#isSignedOut = false;
    if (token !== this.#current) {
      this.#current = token;
      this.#failure = null;
    }
    // A known token is reported again, because the request for its account may have failed.
    this.#options.onToken(token);
  }

  #coolDown(error: TradingGraphError): void {
    const ms = Math.min(MAX_COOL_DOWN_MS, COOL_DOWN_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#failure = { error, until: this.#options.environment.uptime() + ms };
  }

  #signOut(error: TradingGraphError): void {
    if (this.#isSignedOut) return;
    this.#isSignedOut = true;
    this.#current = null;
    this.#options.onSignedOut(error);
  }
}

/** An error that the app's function throws must not sign the user out, so it is made retryable. */
function asRetryable(thrown: unknown): TradingGraphError {
  const error = asTradingGraphError(thrown);
  return error.retryable ? error : networkError(error.message, thrown);
}
