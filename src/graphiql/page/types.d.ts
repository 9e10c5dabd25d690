/** The settings that the server writes into the page for its scripts. */
export interface PageConfig {
  readonly endpoint: string;
  /** Whether cookies are sent, as a proxy's sign-in needs them. */
  readonly credentials: 'omit' | 'same-origin';
  /** The sandbox's users; null with a real gateway. */
  readonly users: readonly { readonly email: string }[] | null;
  /** The token of the first of them; null with a real gateway, and if its sign-in failed. */
  readonly token: string | null;
}

/** Sends a request to the endpoint. */
export type Post = (headers: HeadersInit, body: string) => Promise<Response>;

/** The source of the token that is sent with requests. */
export interface SignIn {
  /** The value of the Authorization header; null if no user is signed in. Rejects if the sign-in fails. */
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

export interface Tab {
  readonly query: string;
  readonly variables?: string;
}
