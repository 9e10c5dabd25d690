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

function change(changed: Session, by: LoginInput | null = null): void {
  session = changed;
  credentials = changed.token === null ? null : by;
  for (const listener of listeners) listener();
}

/** Asked before each request. With `force` the last token was refused; null gives up. An error is tried again later. */
export async function token({ force }: { force: boolean }): Promise<string | null> {
  const asked = credentials;
  if (force && asked !== null) {
    const renewed = await login(asked);
    // Somebody else may have signed in meanwhile, or nobody.
    if (asked === credentials) change(renewed, asked);
  }
  return session.token;
}

export function sessionEnded(): void {
  if (session.token !== null) change({ token: null, notice: 'Your session has ended.' });
}

export async function signIn(input: LoginInput): Promise<void> {
  const failed = ({ message }: Error) => ({ token: null, notice: message });
  change(await login(input).catch(failed), input);
}

/** Throws where nobody could be asked. */
async function login(input: LoginInput): Promise<Session> {
  const { data, error } = await apollo.mutate({
    mutation: SIGN_IN,
    variables: { input },
    context: { anonymous: true },
    errorPolicy: 'all',
  });
  const answer = data?.login;
  if (answer == null) throw error ?? new Error('Try again.');
  return answer.__typename === 'LoginSuccess'
    ? { token: answer.accessToken, notice: null }
    : { token: null, notice: answer.message ?? 'The sign-in was refused.' };
}

export async function signOut(): Promise<void> {
  change({ token: null, notice: null });
  await tradingGraph.tokenChanged();
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
