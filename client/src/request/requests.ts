import type { OwnRequestOptions, Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import type { Operation } from '../operation.ts';
import type { ServerTime } from '../server-clock.ts';
import { isSame, type SignIn } from '../sign-in.ts';
import { isTokenRefused, isWhollyRefused, retryDelay } from './answers.ts';
import { type Deadline, withinTime } from './deadline.ts';
import { mayMutate, type RequestedDocument, requestedDocument } from './document.ts';
import { type Exchanger, exchange, failed } from './exchange.ts';
import {
  abortedError,
  asTradingGraphError,
  disposedError,
  offlineError,
  signedOutError,
} from './failures.ts';
import { sentVariables, unsendable } from './finite-variables.ts';
import type { Tokens } from './tokens.ts';

export interface RequestsOptions {
  readonly environment: Environment;
  readonly tokens: Tokens;
  readonly url: string;
  readonly onDate: ServerTime['onDate'];
  /** The login of the account that a token is for. */
  readonly accountOf: (token: string, exchange?: Exchanger) => Promise<string>;
  readonly signIn: () => SignIn;
}

interface Request {
  readonly document: RequestedDocument;
  readonly variables: unknown;
  readonly options: OwnRequestOptions;
  /** The sign-in that the request belongs to. Null for a query without an account: the present account answers it. */
  readonly signIn: SignIn | null;
  readonly repeats: boolean;
  readonly method: 'GET' | 'POST';
  readonly signal: AbortSignal;
  /** The time for all attempts. An answer that is still arriving may take longer. */
  readonly time: Deadline;
}

const TRIES = 5;
const QUERY_TIMEOUT_MS = 30_000;
/** A silent connection may be dead: after half of the time the query is sent over a new one. */
const QUERY_ATTEMPT_MS = 15_000;
// Longer than the server's own deadline of an order.
const MUTATION_TIMEOUT_MS = 60_000;

/** Requests over HTTP. A refused token is renewed once, and queries are repeated. */
export class Requests {
  readonly #options: RequestsOptions;
  readonly #underWay = new Set<AbortController>();
  #isDisposed = false;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  async request<Data, Variables>(
    operation: Operation<Data, Variables>,
    variables: Variables,
    own?: OwnRequestOptions<Data>,
  ): Promise<Result<Data>> {
    // The type of the data follows from the operation, and cannot be checked here.
    const options = (own ?? {}) as OwnRequestOptions;
    if (this.#isDisposed) return failed(disposedError());
    if (options.signal?.aborted) return failed(abortedError());
    if (options.signal && typeof options.signal.addEventListener !== 'function')
      return failed(unsendable('signal', 'is the `signal` of an AbortController'));
    const abort = new AbortController();
    const leave = () => abort.abort();
    options.signal?.addEventListener('abort', leave);
    this.#underWay.add(abort);
    try {
      const document = requestedDocument(operation);
      const { repeats, method, countsAsMutation } = kindOf(document, options);
      const usesClientToken = !options.anonymous && options.token === undefined;
      const ownSignIn = countsAsMutation && usesClientToken ? this.#options.signIn() : null;
      const { account } = options;
      const request = {
        document,
        variables: sentVariables(variables),
        options,
        signIn: account === undefined ? ownSignIn : { login: account },
        repeats,
        method,
        signal: abort.signal,
      } as const;
      const usualMs = repeats ? QUERY_TIMEOUT_MS : MUTATION_TIMEOUT_MS;
      // A time of 0 is kept. Null and NaN count as left out.
      const wholeMs = options.timeoutMs === 0 ? 0 : options.timeoutMs || usualMs;
      const { environment } = this.#options;
      // Both clocks are the uptime: frameworks that prerender pages forbid reading the date before the first request.
      const undated = { ...environment, now: () => environment.uptime() };
      const result = await withinTime(undated, wholeMs, abort.signal, (time) =>
        this.#untilSettled({ ...request, time }),
      );
      if (abort.signal.aborted) return failed(this.#isDisposed ? disposedError() : abortedError());
      return result as Result<Data>;
    } catch (thrown) {
      if (abort.signal.aborted) return failed(this.#isDisposed ? disposedError() : abortedError());
      return failed(asTradingGraphError(thrown));
    } finally {
      this.#underWay.delete(abort);
      options.signal?.removeEventListener('abort', leave);
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const abort of this.#underWay) abort.abort();
  }

  async #untilSettled(request: Request): Promise<Result<unknown>> {
    const { environment } = this.#options;
    const { repeats, time } = request;
    for (let failures = 0; ; failures += 1) {
      if (repeats && environment.lifecycle.isOnline === false) return failed(offlineError());
      const result = await this.#withToken(request).catch((thrown) =>
        failed(asTradingGraphError(thrown)),
      );
      if (!repeats || failures + 1 >= TRIES) return result;
      const delayMs = retryDelay(result, failures, environment.random);
      if (delayMs === null || delayMs >= time.remainingMs) return result;
      await time.sleep(delayMs);
    }
  }

  async #withToken(request: Request): Promise<Result<unknown>> {
    const { anonymous, token } = request.options;
    // Null: the request is sent without a token. Undefined: it is sent with the client's own token.
    const givenToken = anonymous ? null : token;
    if (givenToken !== undefined) return await this.#send(request, givenToken);
    const tokens = this.#options.tokens.forCaller();
    const current = await request.time.race(tokens.get());
    const result = await this.#send(request, current);
    if (!isTokenRefused(result)) {
      if (result.data !== null) tokens.accepted(current);
      return result;
    }
    const renewing = tokens.renewed(current);
    // A partial answer is returned without waiting for the renewal. With `repeats: false` the caller itself decides whether
    // to repeat, because the new token may belong to another account.
    if (request.options.repeats === false || !isWhollyRefused(result)) {
      fireAndForget(renewing);
      return result;
    }
    const renewed = await request.time.race(renewing);
    const second = await this.#send(request, renewed, true);
    if (!isTokenRefused(second)) return second;
    const error = tokens.refusedAgain(renewed);
    return isWhollyRefused(second) ? failed(error) : second;
  }

  /** Whether the token surely belongs to the request's account. If not, the server is asked for the token's account. */
  #isOfAccount(signIn: SignIn, isRenewed: boolean): boolean {
    const isPresent = signIn === this.#options.signIn();
    const mayTokenDiffer = isRenewed && signIn.login !== null;
    return isPresent && !mayTokenDiffer;
  }

  async #send(request: Request, token: string | null, isRenewed = false): Promise<Result<unknown>> {
    const { environment, url, onDate, accountOf } = this.#options;
    const { document, variables, options, signIn, method, signal, repeats, time } = request;
    if (token !== null && signIn !== null && !this.#isOfAccount(signIn, isRenewed)) {
      const login = await time.race(accountOf(token, options.exchange)).catch(asRefusal);
      // The token was refused before anything of the operation was sent.
      if (typeof login !== 'string') return login;
      if (!isSame(signIn, this.#options.signIn(), login)) {
        throw signedOutError('Another account is signed in.');
      }
    }
    const attemptMs = repeats && !options.timeoutMs ? QUERY_ATTEMPT_MS : Number.POSITIVE_INFINITY;
    // An exchanger that first opens a connection calls `leaving` once more, when the connection is open.
    options.leaving?.();
    return (options.exchange ?? exchange)(environment, {
      url,
      onDate,
      document,
      variables,
      token,
      method,
      timeoutMs: Math.min(attemptMs, time.remainingMs),
      signal,
      leaving: options.leaving,
      onPart: options.onPart,
    });
  }
}

/** How a document is sent. A text shows whether it is a mutation. A document id counts as a mutation unless it `repeats`. */
function kindOf(document: RequestedDocument, options: OwnRequestOptions) {
  const isText = 'query' in document;
  const isMutation = isText && mayMutate(document);
  const repeats = !isMutation && (options.repeats ?? isText);
  const method: Request['method'] = !isText && repeats ? 'GET' : 'POST';
  return { repeats, method, countsAsMutation: isText ? isMutation : !repeats };
}

/** The result for a refused token. Rethrows any other error. */
function asRefusal(thrown: unknown): Result<never> {
  const error = asTradingGraphError(thrown);
  if (error.code === 'UNAUTHENTICATED') return failed(error);
  throw error;
}
