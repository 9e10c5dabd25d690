/** The types of `trading-graph/testing`, for the tests of extensions. This file imports nothing, so it can be read, and published, alone. */

/** Starts the service with its sandbox gateway and a team's extensions, as a process of its own on a free port. */
export type StartGraph = (options: GraphOptions) => Promise<TestGraph>;

export interface GraphOptions {
  /** Files as `EXTENSIONS` names them, or their addresses. */
  readonly extensions: readonly (string | URL)[];
  /** Stubs in place of the extensions' backends, by their names. Any other backend is called at its own address. */
  readonly backends?: Readonly<Record<string, Stub>>;
  /** Settings of the service, and variables that the extensions read. No other setting of this process counts. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Answers each call of its backend; `Response.error()` breaks the connection. A throw fails the `ask` or `follow`. */
export type Stub = (request: Request) => Response | Promise<Response>;

export interface TestGraph extends AsyncDisposable {
  readonly url: string;
  /** The lines of the service's log, which has the stack of each `INTERNAL`. */
  readonly logged: readonly string[];
  /** Sends a request without a token. */
  readonly ask: Ask;
  /** Signs in a user of the sandbox. Default: `demo@example.com`. */
  signIn(email?: string): Promise<Viewer>;
  close(): Promise<void>;
}

export interface Viewer {
  readonly token: string;
  /** Sends a request as this user. */
  readonly ask: Ask;
  /** Subscribes as this user: the events are there to be iterated over, and leaving the loop ends the subscription. */
  readonly follow: Follow;
}

export type Follow = <Data = unknown>(
  subscription: string,
  variables?: Readonly<Record<string, unknown>>,
  headers?: Readonly<Record<string, string>>,
) => AsyncGenerator<Answer<Data>, void>;

export type Ask = <Data = unknown>(
  query: string,
  variables?: Readonly<Record<string, unknown>>,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer<Data>>;

export interface Answer<Data> {
  readonly data: Data;
  /** Empty where there is none. */
  readonly errors: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
  }[];
}
