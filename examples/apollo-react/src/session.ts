import { useSyncExternalStore } from 'react';
import { apollo, tradingGraph } from './api.ts';
import type { LoginInput } from './gql/graphql.ts';
import { graphql } from './gql/index.ts';

const SIGN_IN = graphql(`
  mutation SignIn($input: LoginInput!) {
    login(input: $input) {
      __typename
      ... on LoginSuccess { accessToken }
      ... on LoginRejected { message }
    }
  }
`);

interface Session {
  readonly token: string | null;
  /** The message of the sign-in form. */
  readonly notice: string | null;
}

let session: Session = { token: null, notice: null };
// In memory alone, for as long as the page is open. An app with an identity service keeps its refresh token instead.
let credentials: LoginInput | null = null;
const listeners = new Set<() => void>();

function change(changed: Session): void {
  session = changed;
  for (const listener of listeners) listener();
}

/** Asked before each request. With `force` the last token was refused; null gives up. */
export async function token({ force }: { force: boolean }): Promise<string | null> {
  if (force && credentials !== null) await signIn(credentials);
  return session.token;
}

export function sessionEnded(): void {
  if (session.token !== null) change({ token: null, notice: 'Your session has ended.' });
}

export async function signIn(input: LoginInput): Promise<void> {
  const { data, error } = await apollo.mutate({
    mutation: SIGN_IN,
    variables: { input },
    context: { anonymous: true },
    errorPolicy: 'all',
  });
  const login = data?.login;
  if (login?.__typename === 'LoginSuccess') {
    credentials = input;
    change({ token: login.accessToken, notice: null });
  } else {
    credentials = null;
    change({ token: null, notice: login?.message ?? error?.message ?? 'Try again.' });
  }
}

export async function signOut(): Promise<void> {
  credentials = null;
  change({ token: null, notice: null });
  await tradingGraph.tokenChanged();
  // The cache is one account's.
  await apollo.clearStore();
}

export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
}
