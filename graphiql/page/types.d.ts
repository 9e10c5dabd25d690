/** The settings that the server writes into the page for its scripts. */
export interface PageConfig {
  readonly endpoint: string;
  /** Whether cookies go along, as a proxy's sign-in needs them. */
  readonly credentials: 'omit' | 'same-origin';
  /** The path of GraphiQL's module. */
  readonly graphiql: string;
  readonly introspection: boolean;
  /** The sandbox's; null with a real gateway. */
  readonly users: readonly { readonly email: string }[] | null;
  readonly token: string | null;
}

/** Sends a request to the endpoint. */
export type Post = (headers: HeadersInit, body: string, signal?: AbortSignal) => Promise<Response>;

/** The source of the token that goes with the requests. */
export interface SignIn {
  /** The value of the Authorization header; null where nobody is signed in. Rejects where the sign-in fails. */
  authorization(): Promise<string | null>;
  /** Forgets a token that was refused. */
  refused(authorization: string): Promise<void>;
}

/** An operation as GraphiQL hands it over. */
export interface Operation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string | null;
}

/** The operation that the open tab shows. */
export interface ShownOperation {
  readonly query: string;
  /** As it was typed. */
  readonly variables: string;
  /** The operation that would be executed, with its fragments; null where the text is not GraphQL. */
  readonly chosen: {
    readonly kind: 'query' | 'mutation' | 'subscription';
    readonly document: string;
  } | null;
}

export interface GraphQLResult {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string };
  }[];
  readonly extensions?: {
    readonly gateway?: readonly GatewayCall[];
    readonly cost?: number;
    readonly fields?: number;
  };
}

/** A line of `extensions.gateway`. */
export interface GatewayCall {
  readonly operation: string;
  readonly ms: number;
  readonly source: 'call' | 'cache' | 'shared';
  /** How a call failed. */
  readonly outcome?: string;
}

/** One answer to a query or a mutation, measured. */
export interface Answer {
  readonly name: string;
  /** Null where no response came. */
  readonly status: number | null;
  readonly statusText: string;
  readonly ms: number;
  readonly bytes: number;
  readonly requestId: string | null;
  readonly result: GraphQLResult;
}

/** One event of a subscription. */
export interface StreamEvent {
  readonly at: Date;
  readonly bytes: number;
  readonly result: GraphQLResult;
}

export interface Tab {
  readonly query: string;
  readonly variables?: string;
}

export interface FetcherOptions {
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** Applies the changes of an event to a list: the client's own function. */
export type ApplyChanges = <Row extends { readonly id: string }>(
  list: readonly Row[],
  changes: {
    readonly upserted: readonly Row[];
    readonly ticks?: readonly Partial<Row>[];
    readonly closed: readonly string[];
  },
  keyOf: (row: Row) => string,
) => readonly Row[] | null;

/** The exports of GraphiQL's module; the options are the properties of its React component. */
export interface GraphiQLModule {
  readonly applyChanges: ApplyChanges;
  readonly EventStreamReader: new () => {
    read(bytes: Uint8Array): readonly { readonly event: string; readonly data: string }[];
  };
  renderGraphiQL(element: Element, options: Readonly<Record<string, unknown>>): void;
}
