import { Accounts } from './account.ts';
import { ACCOUNT_OPERATION, type LoginAnswer } from './account-operation.ts';
import { callApp } from './call-app.ts';
import type { AccountListener, Core, Result } from './core.ts';
import { endpointOf } from './endpoint.ts';
import type { Environment } from './environment.ts';
import type { TradingGraphError } from './errors.ts';
import type { Signal } from './platform.ts';
import { retryDelay } from './request/answers.ts';
import { backoffMs } from './request/backoff.ts';
import { type Exchanger, exchange } from './request/exchange.ts';
import { signedOutError } from './request/failures.ts';
import { neverLeft } from './request/never-left.ts';
import { pause } from './request/pause.ts';
import { Requests } from './request/requests.ts';
import { ONE_USER, type TokenSource, Tokens } from './request/tokens.ts';
import { untilAborted } from './request/until-aborted.ts';
import type { ServerTime } from './server-clock.ts';
import type { SignIn } from './sign-in.ts';
import type { ClientStorage } from './storage.ts';
import type { Subscriptions, SubscriptionsOptions } from './subscribe/subscriptions.ts';

export interface CoreOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly onSignedOut?: ((error: TradingGraphError) => void) | undefined;
  readonly environment: Environment;
  readonly storage?: ClientStorage | null | undefined;
  readonly heartbeatSeconds?: number | undefined;
  /** The time for which the app is hidden before its connections are closed. */
  readonly hiddenSeconds?: number | undefined;
}

/** The part of the core that subscribes. */
export type SubscriptionsPart = Pick<
  Subscriptions,
  'subscribe' | 'restart' | 'tokenChanged' | 'endAll' | 'dispose'
>;

/** The parts that a client for requests alone leaves out. */
export interface CoreParts {
  readonly serverClock: (environment: Environment) => ServerTime;
  /** If left out, subscriptions are not available. */
  readonly subscriptions?: (own: SubscriptionsOptions) => SubscriptionsPart;
}

const ACCOUNT_TIMEOUT_MS = 15_000;
const ACCOUNT_TRIES = 3;

/** The parts that the client's features share, connected to each other. */
export class ClientCore implements Core {
  readonly environment: Environment;
  readonly storage: ClientStorage | null;
  readonly serverClock: ServerTime;
  readonly heartbeatSeconds: number;
  isDisposed = false;
  readonly #url: string;
  readonly #accounts: Accounts;
  readonly #tokens: Tokens;
  readonly #requests: Requests;
  readonly #subscriptions: SubscriptionsPart | undefined;
  readonly #tasks: (() => void)[] = [];
  /** The error that ends all live data when a client on a server has several users: rows could reach the wrong user. */
  #severalUsers: TradingGraphError | null = null;
  /** The sign-in whose account is in doubt: the server was asked, and did not name the account. */
  #doubted: SignIn | null = null;
  #doubts = 0;
  #cancelAsking: (() => void) | null = null;

  constructor(options: CoreOptions, parts: CoreParts) {
    const { environment, storage = null, heartbeatSeconds = 15, hiddenSeconds = 30 } = options;
    this.environment = environment;
    this.storage = storage;
    this.serverClock = parts.serverClock(environment);
    this.heartbeatSeconds = heartbeatSeconds;
    this.#url = endpointOf(options.url);
    if (typeof options.token !== 'function')
      throw new TypeError('`token` is a function that gives the token, or null');
    this.#accounts = new Accounts({
      environment,
      ask: (token, signal, exchanger) => this.#askAccount(token, signal, exchanger),
      onChange: () => this.#accountChanged(),
      onLogin: () => {
        this.#doubts = 0;
      },
      onDoubt: (error) => this.#accountDoubted(error),
    });
    this.#tokens = new Tokens({
      source: options.token,
      environment,
      onToken: (token) => this.#accounts.tokenTaken(token),
      onSignedOut: (error) => {
        this.#subscriptions?.endAll(error);
        this.#accounts.signedOut();
        callApp(environment, () => options.onSignedOut?.(error));
      },
    });
    this.#requests = new Requests({
      environment,
      tokens: this.#tokens,
      url: this.#url,
      onDate: this.serverClock.onDate,
      accountOf: (token, exchanger) => this.#accounts.loginOf(token, exchanger),
      signIn: () => this.#accounts.signIn,
    });
    this.#subscriptions = parts.subscriptions?.({
      environment,
      tokens: this.#tokens,
      url: this.#url,
      heartbeatMs: heartbeatSeconds * 1_000,
      hiddenMs: hiddenSeconds * 1_000,
      request: this.request,
      onToken: (token) => this.#accounts.connectionOpened(token),
    });
  }

  /** A property, which a client for servers replaces to notice errors that a framework throws. */
  request: Core['request'] = (operation, variables, own) =>
    this.#requests.request(operation, variables, own);

  readonly subscribe: Core['subscribe'] = (operation, variables, sink) => {
    if (this.#severalUsers === null)
      return this.#subscriptions?.subscribe(operation, variables, sink) ?? (() => {});
    sink.ended(this.#severalUsers);
    return () => {};
  };

  async account(signal: Signal = new AbortController().signal, over?: Exchanger): Promise<string> {
    const own = this.#tokens.forCaller();
    let token = await untilAborted(own.get(), signal);
    for (let isRenewed = false; ; isRenewed = true) {
      try {
        return await untilAborted(this.#accounts.loginOf(token, over), signal);
      } catch (thrown) {
        if ((thrown as TradingGraphError).code !== 'UNAUTHENTICATED') throw thrown;
        if (isRenewed) throw own.refusedAgain(token);
      }
      token = await untilAborted(own.renewed(token), signal);
    }
  }

  onAccountChange(listener: AccountListener): () => void {
    return this.#accounts.onChange(listener);
  }

  get login(): string | null {
    return this.#accounts.login;
  }

  get signIn(): SignIn {
    return this.#accounts.signIn;
  }

  onDispose(task: () => void): void {
    if (this.isDisposed) task();
    else this.#tasks.push(task);
  }

  async tokenChanged(): Promise<void> {
    this.#accounts.changed();
    const token = await this.#tokens.changed().catch(() => null);
    if (token === null) return;
    this.#accounts.tokenTaken(token);
    this.#subscriptions?.tokenChanged();
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    for (const task of this.#tasks.splice(0)) callApp(this.environment, task);
    this.#cancelAsking?.();
    this.#tokens.dispose();
    this.#requests.dispose();
    this.#subscriptions?.dispose();
    this.#accounts.dispose();
  }

  #accountChanged(): void {
    if (this.#tokens.areOfSeveralUsers) this.#severalUsers = signedOutError(ONE_USER);
    if (this.#severalUsers) this.#subscriptions?.endAll(this.#severalUsers);
    else this.#subscriptions?.restart();
  }

  #accountDoubted({ code, retryable }: TradingGraphError): void {
    // The open connections may belong to the former account.
    if (this.#doubted !== this.#accounts.signIn) this.#subscriptions?.restart();
    this.#doubted = this.#accounts.signIn;
    // Asking again renews a refused token. If the new one is refused too, the user is signed out.
    if (retryable || (code === 'UNAUTHENTICATED' && this.login !== null)) this.#askAgain();
  }

  /** Asks until the server names the token's account. Otherwise the former account's lists could stay on the screen. */
  #askAgain(): void {
    if (this.isDisposed) return;
    const { after, random } = this.environment;
    this.#cancelAsking ??= after(backoffMs(this.#doubts, random), () => {
      this.#cancelAsking = null;
      this.#doubts += 1;
      this.account().catch(({ retryable }: TradingGraphError) => {
        if (retryable) this.#askAgain();
      });
    });
  }

  async #askAccount(
    token: string,
    signal: Signal,
    exchanger: Exchanger = exchange,
  ): Promise<Result<LoginAnswer>> {
    for (let failures = 0; ; failures += 1) {
      const result = (await exchanger(this.environment, {
        url: this.#url,
        document: { query: ACCOUNT_OPERATION },
        variables: undefined,
        token,
        method: 'POST',
        timeoutMs: ACCOUNT_TIMEOUT_MS,
        signal,
        onDate: this.serverClock.onDate,
      })) as Result<LoginAnswer>;
      const isRefused = result.errors.some(neverLeft);
      const delayMs = isRefused ? null : retryDelay(result, failures, this.environment.random);
      if (delayMs === null || failures + 1 >= ACCOUNT_TRIES || signal.aborted) return result;
      await pause(this.environment, delayMs, signal);
    }
  }
}
