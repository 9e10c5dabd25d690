import type { AccountListener, Result } from './core.ts';
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
  /** Called whenever the server has named the account of the present token, changed or not. */
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
  readonly #listeners: Listeners<Parameters<AccountListener>>;
  readonly #disposed = new AbortController();
  #known: Known | null = null;
  /** The login that the server named last, even after `changed`: null after signing out, undefined before the first one. */
  #lastLogin: string | null | undefined = undefined;
  #hasTakenToken = false;
  #signIn: { login: string | null } = { login: null };
  /** Whether the present sign-in was read, as by an order or a mutation that refers to it. */
  #isUsed = false;
  /** The first token whose account was requested. Its account is no change for the listeners. */
  #firstToken: string | null = null;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.environment);
  }

  /** The login of a token. With an `exchange` no pending request is awaited, because its usual connection may be dead. */
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
        if (this.#lastLogin !== undefined && this.#listeners.size > 0) this.#options.onDoubt(error);
      },
    );
    return login;
  }

  /** A new token may belong to another account than the last one. */
  tokenTaken(token: string): void {
    this.#hasTakenToken = true;
    // After the user was signed out, listeners wait for the next account.
    const isAwaited = this.#lastLogin === null && this.#listeners.size > 0;
    if (this.#firstToken !== null || isAwaited) fireAndForget(this.loginOf(token));
  }

  /** Asks for the account of a new connection's token, to notice if another follows: subscriptions then restart. */
  connectionOpened(token: string): void {
    if (this.#listeners.size > 0 || this.#firstToken !== null) fireAndForget(this.loginOf(token));
  }

  /** Begins another sign-in: the app announces that another account may be signed in. */
  changed(): void {
    this.#known = null;
    // No token is an empty text, so the next one is not the first: its account is a change, and listeners drop their state.
    if (this.#isUsed && this.#listeners.size > 0) this.#firstToken ??= '';
    this.#begin();
  }

  signedOut(): void {
    this.#begin();
    this.#known = null;
    this.#firstToken = null;
    if (this.#lastLogin === null) return;
    const former = this.#hasTakenToken ? this.#lastLogin : null;
    this.#lastLogin = null;
    this.#listeners.notify(null, former);
  }

  get login(): string | null {
    return this.#lastLogin ?? null;
  }

  /** The present sign-in. Reading it sets `#isUsed`, because the reader keeps state that refers to it. */
  get signIn(): SignIn {
    this.#isUsed = true;
    return this.#signIn;
  }

  onChange(listener: AccountListener): () => void {
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
    const former = this.#lastLogin;
    const isFirst = former === undefined && token === this.#firstToken;
    this.#lastLogin = login;
    this.#options.onLogin();
    if (former === login || isFirst) return;
    this.#options.onChange();
    this.#listeners.notify(login, former);
  }
}
