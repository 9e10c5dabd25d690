import type { ClientCore } from './client-core.ts';
import type { AccountListener, RequestOptions, Result } from './core.ts';
import type { Operation } from './operation.ts';

/** A client for queries and mutations. */
export interface RequestsClient {
  /** Answers a query. It never rejects: `errors` has the failures, `data` the rest. */
  query<Data, Variables = unknown>(
    operation: Operation<Data, Variables>,
    ...rest: Rest<Variables, Data>
  ): Promise<Result<Data>>;
  /** Carries out a mutation, which is not repeated once it may have been carried out. It never rejects. */
  mutate<Data, Variables = unknown>(
    operation: Operation<Data, Variables>,
    ...rest: Rest<Variables, Data>
  ): Promise<Result<Data>>;
  /** The signed-in account that the server named last; null while it is unknown, or no user is signed in. */
  readonly login: string | null;
  /**
   * Calls the listener when another account signs in, or the user signs out (null), so that the screen can drop the former
   * account's data. The first known account is not a change. Returns a function that removes the listener.
   */
  onAccountChange(listener: AccountListener): () => void;
  /** Call it when the signed-in user changes. Otherwise the client notices the change only at the next request. */
  tokenChanged(): Promise<void>;
  /** Ends everything: requests and subscriptions fail with `DISPOSED`, and no timer or connection remains. */
  dispose(): void;
}

/** Variables may be left out if the operation has none. */
type Rest<Variables, Data> = unknown extends Variables
  ? [variables?: Variables, options?: RequestOptions<Data>]
  : Record<string, never> extends Variables
    ? [variables?: Variables, options?: RequestOptions<Data>]
    : [variables: Variables, options?: RequestOptions<Data>];

/** The methods that every client has. */
export function ownMethods(core: ClientCore): RequestsClient {
  return {
    query: (operation, ...[variables, own]) =>
      // The types let variables be left out only if the operation has none.
      core.request(operation, variables as NonNullable<typeof variables>, {
        repeats: true,
        ...own,
      }),
    mutate: (operation, ...[variables, own]) =>
      core.request(operation, variables as NonNullable<typeof variables>, own),
    get login() {
      return core.login;
    },
    onAccountChange: (listener) => core.onAccountChange(listener),
    tokenChanged: () => core.tokenChanged(),
    dispose: () => core.dispose(),
  };
}
