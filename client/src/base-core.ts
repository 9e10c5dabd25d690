import { Accounts } from './account.ts';
import { ACCOUNT_OPERATION } from './account-operation.ts';
import { callApp } from './call-app.ts';
import type { Core } from './core.ts';
import type { DatedEnvironment } from './environment.ts';
import type { TradingGraphError } from './errors.ts';
import { retryDelay } from './request/answers.ts';
import { backoffMs } from './request/backoff.ts';
import { type Exchanger, exchange } from './request/exchange.ts';
import { signedOutError } from './request/failures.ts';
import { neverLeft } from './request/never-left.ts';
import { pause } from './request/pause.ts';
import { Requests } from './request/requests.ts';
import { ONE_USER, type TokenSource, Tokens } from './request/tokens.ts';
import { untilAborted } from './request/until-aborted.ts';
import { endpointOf, routedUrl, routeHint } from './route.ts';
import type { SignIn } from './sign-in.ts';
import type { Subscriptions, SubscriptionsOptions } from './subscribe/subscriptions.ts';

export interface BaseOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly onSignedOut?: ((error: TradingGraphError) => void) | undefined;
  readonly route?: boolean | undefined;
  /** The login whose token the app gives, as far as it knows it. */
  readonly login?: () => string | null | undefined;
  /** Where the hint is kept, and what it waits for. */
  readonly memory?: { hint: string | null; seeking: Promise<unknown> };
  /** The login whose session the app holds. */
  readonly expected?: { readonly login: string | null };
  readonly environment: DatedEnvironment;
}

/** The core of a client that only sends requests. */
export type BaseCore = Omit<
  OwnCore,
  'environment' | 'storage' | 'serverClock' | 'heartbeatSeconds' | 'expectLogin'
>;

/** The core, and what only the client itself does with it. */
export interface OwnCore extends Core {
  tokenChanged(): Promise<void>;
  dispose(): void;
}

const ACCOUNT_TIMEOUT_MS = 15_000;
const ACCOUNT_TRIES = 3;

/** The methods of the part that subscribes, which a client for requests alone goes without. */
export type SubscriptionsPart = Pick<
  Subscriptions,
  'subscribe' | 'restart' | 'tokenChanged' | 'endAll' | 'dispose'
>;

/** Makes the parts that the client's features share, and ties them to one another. */
export function createBaseCore(
  options: BaseOptions,
  subscriptionsOf: (
    own: Omit<SubscriptionsOptions, 'environment' | 'memory' | 'heartbeatMs' | 'hiddenMs'>,
  ) => SubscriptionsPart,
): BaseCore {
  const { environment, route = true } = options;
  const { memory = { hint: null, seeking: Promise.resolve() } } = options;
  const tasks: (() => void)[] = [];
  let isDisposed = false;
  /** Why nothing is followed any more, once a server has met a second user: whose rows they are nobody could say. */
  let several: TradingGraphError | null = null;
  /** The login of which the app's word was taken last; undefined before the first token. */
  let held: string | null | undefined;
  /** The sign-in of which the server has not said whose it is, though it was asked. */
  let doubted: SignIn | null = null;
  let doubts = 0;
  let cancelAsking: (() => void) | null = null;
  const endpoint = endpointOf(options.url);
  const url = () => routedUrl(endpoint, memory.hint);
  if (typeof options.token !== 'function')
    throw new TypeError('`token` is a function that gives the token, or null');
  const accounts: Accounts = new Accounts({
    ...options,
    ask: askAccount,
    onChange() {
      if (tokens.areOfSeveral) several = signedOutError(ONE_USER);
      if (several) subscriptions.endAll(several);
      else subscriptions.restart();
    },
    onLogin(login) {
      doubts = 0;
      if (route) findHint(login);
    },
    onDoubt({ code, retryable }) {
      // The present lines may be the former account's.
      if (doubted !== accounts.signIn) subscriptions.restart();
      doubted = accounts.signIn;
      // A refused token is renewed by the next question, which signs out where that does not help.
      if (retryable || (code === 'UNAUTHENTICATED' && accounts.login !== null)) askAgain();
    },
  });
  const tokens: Tokens = new Tokens({
    source: options.token,
    environment,
    onToken(token) {
      if (route) holdHint();
      accounts.tokenTaken(token);
    },
    onSignedOut(error) {
      memory.hint = null;
      memory.seeking = Promise.resolve();
      held = null;
      subscriptions.endAll(error);
      accounts.signedOut();
      callApp(environment, () => options.onSignedOut?.(error));
    },
  });
  const accountOf = (token: string, over?: Exchanger) => accounts.of(token, over);
  const requests = new Requests({
    environment,
    tokens,
    async url() {
      await memory.seeking;
      return url();
    },
    accountOf,
    signIn: () => accounts.signIn,
  });
  const onToken = (token: string) => accounts.lineOpened(token);
  const subscriptions: SubscriptionsPart = subscriptionsOf({
    tokens,
    url,
    async prepare(token) {
      findHint(await accounts.of(token));
      await memory.seeking;
    },
    onToken,
  });

  /** The hint of the login that was named last is the one that stands, whichever is found first. */
  function findHint(login: string): void {
    const hashing = Promise.resolve(login).then(environment.routeHint ?? routeHint);
    const seeking = hashing
      .catch(() => null)
      .then((hint) => {
        if (memory.seeking === seeking) memory.hint = hint;
      });
    memory.seeking = seeking;
  }

  /** The app's word is enough for a hint, which opens nothing: without it the first line waits for the server's. */
  function holdHint(): void {
    let login = held === undefined ? options.expected?.login : held;
    callApp(environment, () => {
      login = options.login?.() ?? login;
    });
    if (login != null && login !== held) findHint(login);
    held = login ?? null;
  }

  async function askAccount(token: string, signal: AbortSignal, over: Exchanger = exchange) {
    for (let failures = 0; ; failures += 1) {
      const result = await over(environment, {
        url: url(),
        document: { query: ACCOUNT_OPERATION },
        variables: undefined,
        token,
        method: 'POST',
        timeoutMs: ACCOUNT_TIMEOUT_MS,
        signal,
      });
      const isRefused = result.errors.some(neverLeft);
      const delayMs = isRefused ? null : retryDelay(result, failures, environment.random);
      if (delayMs === null || failures + 1 >= ACCOUNT_TRIES || signal.aborted) {
        return result as Awaited<ReturnType<ConstructorParameters<typeof Accounts>[0]['ask']>>;
      }
      await pause(environment, delayMs, signal);
    }
  }

  /** Asks until the server says whose the token is: nothing else may ask for long, and the former account's lists would stay. */
  function askAgain(): void {
    if (isDisposed) return;
    cancelAsking ??= environment.after(backoffMs(doubts, environment.random), () => {
      cancelAsking = null;
      doubts += 1;
      account().catch(({ retryable }: TradingGraphError) => {
        if (retryable) askAgain();
      });
    });
  }

  async function account(signal = new AbortController().signal, over?: Exchanger): Promise<string> {
    const own = tokens.forCaller();
    let token = await untilAborted(own.get(), signal);
    for (let isRenewed = false; ; isRenewed = true) {
      try {
        return await untilAborted(accounts.of(token, over), signal);
      } catch (thrown) {
        if ((thrown as TradingGraphError).code !== 'UNAUTHENTICATED') throw thrown;
        if (isRenewed) throw own.refusedAgain(token);
      }
      token = await untilAborted(own.renewed(token), signal);
    }
  }

  return {
    request: (operation, variables, own) => requests.request(operation, variables, own),
    retrying: requests.retrying.followed,
    subscribe(operation, variables, sink) {
      if (several === null) return subscriptions.subscribe(operation, variables, sink);
      sink.ended(several);
      return () => {};
    },
    account,
    onAccountChange: (listener) => accounts.onChange(listener),
    get login() {
      return accounts.login;
    },
    get signIn() {
      return accounts.signIn;
    },
    get isDisposed() {
      return isDisposed;
    },
    onDispose(task) {
      if (isDisposed) task();
      else tasks.push(task);
    },
    async tokenChanged() {
      accounts.changed();
      const token = await tokens.changed().catch(() => null);
      if (token === null) return;
      accounts.tokenTaken(token);
      subscriptions.tokenChanged();
    },
    dispose() {
      if (isDisposed) return;
      isDisposed = true;
      for (const task of tasks.splice(0)) callApp(environment, task);
      cancelAsking?.();
      tokens.dispose();
      requests.dispose();
      subscriptions.dispose();
      accounts.dispose();
    },
  };
}
