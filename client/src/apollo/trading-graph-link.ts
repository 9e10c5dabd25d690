import { ApolloLink } from '@apollo/client/link';
import { Observable } from '@apollo/client/utilities';
import type { RequestOptions, Result } from '../core.ts';
import type { CoreClient } from '../core-client.ts';
import type { TradingGraphError } from '../errors.ts';
import { formattedError } from '../execution-result.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import type { Operation } from '../operation.ts';
import { formattedResult, isOwnError } from './formatted-result.ts';
import { ResumedVariables } from './resumed-variables.ts';

type LinkClient = Pick<CoreClient, 'query' | 'mutate' | 'subscribe'>;

interface Observer {
  next(result: ApolloLink.Result): void;
  error(error: TradingGraphError): void;
  complete(): void;
}

/** The fields of an operation's `context` that the link reads. */
export interface LinkContext {
  /** Sends no token, like the request that signs in. */
  readonly anonymous?: boolean | undefined;
  /** Called when a connection of the subscription has opened: the first, and each later one. */
  readonly connected?: (() => void) | undefined;
  /** Called when the subscription's connection is lost. The subscription continues on the next connection. */
  readonly disconnected?: ((error: TradingGraphError | null) => void) | undefined;
  readonly fetchOptions?: { readonly signal?: AbortSignal };
  /** Set by Apollo: `includeQuery` by its link for persisted queries, `accept` by its handler of incremental delivery. */
  readonly http?: { readonly includeQuery?: boolean; readonly accept?: readonly string[] };
}

/**
 * Sends Apollo Client's operations through `client`: tokens are renewed once for all requests, queries are repeated if that
 * is safe, mutations never are, and subscriptions continue after a lost connection. This link is the last of its chain.
 */
export function tradingGraphLink(client: LinkClient): ApolloLink {
  return new ApolloLink(
    (operation) =>
      new Observable<ApolloLink.Result>((observer) =>
        operation.operationType === 'subscription'
          ? follow(client, operation, observer)
          : ask(client, operation, observer),
      ),
  );
}

function ask(client: LinkClient, operation: ApolloLink.Operation, observer: Observer): () => void {
  const { anonymous = false, fetchOptions, http } = operation.getContext() as LinkContext;
  const abort = new AbortController();
  const leave = () => abort.abort();
  const signal = fetchOptions?.signal;
  signal?.addEventListener('abort', leave);
  if (signal?.aborted) leave();
  const parts = http?.accept?.some((type) => type.includes('deferSpec=20220824'))
    ? new AnswerParts(observer)
    : null;
  const options: RequestOptions<Values> = {
    signal: abort.signal,
    anonymous,
    ...(parts && { onPart: (soFar) => parts.next(soFar, true) }),
  };
  const send = operation.operationType === 'mutation' ? client.mutate : client.query;
  const answered = send(documentOf(operation), operation.variables, options).then((result) => {
    const [error] = result.errors;
    const hasNoAnswer = error !== undefined && isOwnError(error) && result.data === null;
    if (hasNoAnswer) observer.error(error);
    else {
      // Data that arrived before the error, such as an order's outcome, is passed on with the error.
      if (parts?.hasBegun) parts.next(result, false);
      else observer.next(formattedResult(result));
      observer.complete();
    }
  });
  fireAndForget(answered);
  return () => {
    signal?.removeEventListener('abort', leave);
    leave();
  };
}

/** Passes on the parts of an answer as `Defer20220824Handler` reads them: each with all data so far, and its new errors. */
class AnswerParts {
  readonly #observer: Observer;
  #errors = 0;
  hasBegun = false;

  constructor(observer: Observer) {
    this.#observer = observer;
  }

  next(soFar: Result<Values>, hasNext: boolean): void {
    const { data, errors = [] } = formattedResult(soFar);
    const part = { data, errors: errors.slice(this.#errors) };
    this.#errors = errors.length;
    const body = this.hasBegun ? { incremental: [{ ...part, path: [] }] } : part;
    const message: object = { ...body, hasNext };
    this.hasBegun = true;
    this.#observer.next(message as ApolloLink.Result);
  }
}

function follow(
  client: LinkClient,
  operation: ApolloLink.Operation,
  observer: Observer,
): () => void {
  const { connected, disconnected } = operation.getContext() as LinkContext;
  const resumed = new ResumedVariables(operation);
  return client.subscribe(documentOf(operation), () => resumed.variables(), {
    next(result) {
      resumed.note(result.data);
      observer.next(formattedResult(result));
    },
    ended(error) {
      if (error !== null && isOwnError(error)) observer.error(error);
      else {
        if (error !== null) observer.next({ data: null, errors: [formattedError(error)] });
        observer.complete();
      }
    },
    connected: () => connected?.(),
    disconnected: (error) => disconnected?.(error),
  });
}

type Values = Record<string, unknown>;

function documentOf(operation: ApolloLink.Operation): Operation<Values, Values> {
  const hash: unknown = operation.extensions.persistedQuery?.sha256Hash;
  const { http } = operation.getContext() as LinkContext;
  if (typeof hash === 'string' && http?.includeQuery === false) return { documentId: hash };
  return operation.query;
}
