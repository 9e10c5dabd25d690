/** A subscription as graphql-ws takes it. */
export interface FollowRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Receives the answers of a subscription, as graphql-ws, Apollo Client, urql and Relay report them. */
export interface FollowSink {
  /** Takes `{ data, errors }`, or `{ data, error }` as Apollo Client and urql have it. */
  next(result: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

/** An observable, such as Apollo Client's and Relay's. */
export interface FollowedObservable {
  subscribe(sink: FollowSink): { unsubscribe(): void };
}

/** Subscribes, and returns the function that ends the subscription; or returns an observable. */
export type SubscribeFunction = (
  request: FollowRequest,
  sink: FollowSink,
) => (() => void) | FollowedObservable;

/** A client of graphql-ws. */
export interface SubscribeClient {
  readonly subscribe: SubscribeFunction;
  /** Ends a dead connection, which otherwise the platform may keep for minutes. */
  terminate?(): void;
}
