import type { Result } from './core.ts';
import type { Environment } from './environment.ts';
import type { TradingGraphError } from './errors.ts';
import { fireAndForget } from './fire-and-forget.ts';
import { Listeners } from './listeners.ts';
import type { Exchanger } from './request/exchange.ts';
import { protocolError } from './request/failures.ts';
import type { SignIn } from './sign-in.ts';

export interface AccountsOptions {
  readonly environment: Environment;
  /** Asks the server which account the token belongs to. */
  readonly ask: (
    token: string,
    signal: AbortSignal,
    exchange?: Exchanger,
  ) => Promise<Result<{ session: { login: string | null } | null }>>;
  /** Called when another account is signed in, before the listeners. */
  readonly onChange: () => void;
  readonly onLogin: () => void;
  /** Called if the server does not say whether a new token belongs to the account that the listeners know. */
  readonly onDoubt: (error: TradingGraphError) => void;
}

/** A token and its login, which is known (`isFound`) or requested. */
interface Known {
  readonly token: string;
  readonly login: Promise<string>;
  readonly isFound: boolean;
}

/** Asks the server for the account of each token, because a token's own claims are not verified here. */
export class Accounts {
  readonly #options: AccountsOptions;
  readonly #listeners: Listeners<[login: string | null]>;
  readonly #disposed = new AbortController();
  #known: Known | null = null;
  /** The login that the listeners know: null after signing out, undefined before the first one is known. */
  #login: string | null | undefined = undefined;
  #signIn: { login: string | null } = { login: null };
  /** Whether an order or a mutation refers to the present sign-in. */
  #isUsed = false;
  /** The first token whose account was requested. Its account is no change for the listeners. */
  #firstToken: string | null = null;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.environment);
  }

  /** The login of a token. A call with an `exchange` joins no request on the usual connection, which may be dead. */
  loginOf(token: string, exchange?: Exchanger): Promise<string> {
    const last = this.#known;
    if (last?.token === token && (!exchange || last.isFound)) return last.login;
    this.#firstToken ??= token;
    const login = this.#ask(token, exchange);
    const known = { token, login, isFound: false };
    this.#known = known;
    const signIn = this.#signIn;
    login.then(
      (found) => {
        known.isFound = true;
        // The login belongs to the sign-in of the request, even if the app has announced another sign-in since.
        signIn.login ??= found;
        if (this.#known === known) this.#found(token, found);
      },
      (error: TradingGraphError) => {
        if (this.#known !== known) return;
        // The next call asks again.
        this.#known = null;
        if (this.#login !== undefined && this.#listeners.size > 0) this.#options.onDoubt(error);
      },
    );
    return login;
  }

  /** A new token may belong to another account than the last one. */
  tokenTaken(token: string): void {
    // Listeners that were signed out wait for the next account.
    const isAwaited = this.#login === null && this.#listeners.size > 0;
    if (this.#firstToken !== null || isAwaited) fireAndForget(this.loginOf(token));
  }

  /** A connection was opened with the token, so its subscriptions must restart when the account changes. */
  connectionOpened(token: string): void {
    if (this.#listeners.size > 0 || this.#firstToken !== null) fireAndForget(this.loginOf(token));
  }

  /** Begins another sign-in: the app announces that another account may be signed in. */
  changed(): void {
    this.#known = null;
    // The next token's account is announced, so that listeners drop state of this sign-in: no token equals an empty text.
    if (this.#isUsed && this.#listeners.size > 0) this.#firstToken ??= '';
    this.#begin();
  }

  signedOut(): void {
    this.#begin();
    this.#known = null;
    this.#firstToken = null;
    if (this.#login === null) return;
    this.#login = null;
    this.#listeners.notify(null);
  }

  /** The login that the server named last; null while it is unknown, or no user is signed in. */
  get login(): string | null {
    return this.#login ?? null;
  }

  get signIn(): SignIn {
    this.#isUsed = true;
    return this.#signIn;
  }

  onChange(listener: (login: string | null) => void): () => void {
    return this.#listeners.add(listener);
  }

  dispose(): void {
    this.#disposed.abort();
    this.#listeners.clear();
  }

  #begin(): void {
    this.#signIn = { login: null };
    this.#isUsed = false;
  }

  async #ask(token: string, exchange?: Exchanger): Promise<string> {
    const { data, errors } = await this.#options.ask(token, this.#disposed.signal, exchange);
    const login = data?.session?.login;
    if (login != null) return login;
    const error: TradingGraphError | undefined = errors[0];
    throw error ?? protocolError('The server does not name the account of the token.');
  }

  #found(token: string, login: string): void {
    // The app may pass another account's token without announcing it.
    if (this.#signIn.login !== login) this.#signIn = { login };
    // The account of the first token is no change.
    const assumed = token === this.#firstToken ? login : undefined;
    const former = this.#login === undefined ? assumed : this.#login;
    this.#login = login;
    this.#options.onLogin();
    if (former === login) return;
    this.#options.onChange();
    this.#listeners.notify(login);
  }
}
