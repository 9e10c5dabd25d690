import type { CoreClient } from './core-client.ts';
import { type ExecutionResult, executionResult } from './execution-result.ts';
import { fireAndForget } from './fire-and-forget.ts';

type Values = Record<string, unknown>;

/** A request of another GraphQL client. */
export interface ForwardedRequest {
  readonly query?: string | undefined;
  readonly variables?: object | undefined;
}

/** Receives the answers to a request. */
export interface ForwardedSink {
  next(result: ExecutionResult<Values>): void;
  error(error: unknown): void;
  complete(): void;
}

/** The answers to a request, as far as other clients read an observable. */
export interface ForwardedAnswers {
  subscribe(sink: ForwardedSink): { unsubscribe(): void };
}

/**
 * The `forwardSubscription` of urql's `subscriptionExchange`, with `enableAllOperations`: sends all operations of the other
 * client through this one.
 */
export function forwardTo(
  client: Pick<CoreClient, 'query' | 'subscribe'>,
): (request: ForwardedRequest, operation: { readonly kind: string }) => ForwardedAnswers {
  return ({ query = '', variables = {} }, { kind }) => ({
    subscribe(sink) {
      const send = kind === 'subscription' ? subscribed : asked;
      return { unsubscribe: send(client, query, variables as Values, sink) };
    },
  });
}

function asked(
  client: Pick<CoreClient, 'query'>,
  query: string,
  variables: Values,
  sink: ForwardedSink,
): () => void {
  const abort = new AbortController();
  // The client sees by its text that a mutation is not to be repeated.
  const answer = client.query<Values>(query, variables, { signal: abort.signal });
  const passedOn = answer.then(executionResult).then(
    (result) => {
      sink.next(result);
      sink.complete();
    },
    (error) => sink.error(error),
  );
  fireAndForget(passedOn);
  return () => abort.abort();
}

function subscribed(
  client: Pick<CoreClient, 'subscribe'>,
  query: string,
  variables: Values,
  sink: ForwardedSink,
): () => void {
  return client.subscribe<Values>(query, () => variables, {
    next: (result) =>
      result.data === null ? sink.error(result.errors[0]) : sink.next(executionResult(result)),
    ended: (error) => (error === null ? sink.complete() : sink.error(error)),
  });
}
