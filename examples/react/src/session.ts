import { useSyncExternalStore } from 'react';
import { createClient, type TypedText } from 'trading-graph-client';
import { indexedDb } from 'trading-graph-client/indexed-db';

interface SignIn {
  readonly login: { readonly accessToken?: string; readonly message?: string | null } | null;
}
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

const SIGN_IN: TypedText<SignIn, { input: Credentials }> = `
  mutation SignIn($input: LoginInput!) {
    login(input: $input) {
      ... on LoginSuccess { accessToken }
      ... on LoginRejected { message }
    }
  }`;

// The token is kept in memory alone, because other scripts can read the page's storage.
let token: string | null = null;
const listeners = new Set<() => void>();

export const client = createClient({
  url: import.meta.env.VITE_GRAPHQL_URL ?? 'http://127.0.0.1:4000/graphql',
  storage: indexedDb({ name: 'trading-graph-example' }),
  // With `force` the token was refused. The gateway renews none, and an app keeps no password: null signs the user out.
  token: ({ force }) => (force ? null : token),
  onSignedOut: () => keep(null),
});

export async function signIn(given: Credentials): Promise<string | null> {
  const { accessToken, message } = await login(given);
  if (accessToken === undefined) return message ?? 'The sign-in was refused.';
  keep(accessToken);
  await client.tokenChanged();
  return null;
}

export async function signOut(): Promise<void> {
  keep(null);
  await client.tokenChanged();
}

export function useIsSignedIn(): boolean {
  return useSyncExternalStore(subscribe, () => token !== null);
}

/** Throws if there is no answer. */
async function login(input: Credentials): Promise<NonNullable<SignIn['login']>> {
  const { data, errors } = await client.mutate(SIGN_IN, { input }, { anonymous: true });
  const answer = data?.login;
  if (answer == null) throw errors[0] ?? new Error('The server gave no answer.');
  return answer;
}

function keep(next: string | null): void {
  token = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
