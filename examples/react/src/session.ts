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
let credentials: Credentials | null = null;
const listeners = new Set<() => void>();

export const client = createClient({
  url: import.meta.env.VITE_GRAPHQL_URL ?? 'http://127.0.0.1:4000/graphql',
  storage: indexedDb({ name: 'trading-graph-example' }),
  token: ({ force }) => (force ? renew() : token),
  onSignedOut: () => keep(null),
});

export async function signIn(given: Credentials): Promise<string | null> {
  const { accessToken, message } = await login(given);
  if (accessToken === undefined) return message ?? 'The sign-in was refused.';
  keep(accessToken, given);
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

/**
 * Signs in again, because the gateway does not renew tokens. If this function returns null, the client calls `onSignedOut`.
 * If it throws, for example without a network, the client calls it again later.
 */
async function renew(): Promise<string | null> {
  const former = credentials;
  const { accessToken = null } = former === null ? {} : await login(former);
  // The user may have signed out meanwhile, or another user may have signed in.
  if (former === credentials) keep(accessToken, former);
  return token;
}

/** Throws if there is no answer. */
async function login(input: Credentials): Promise<NonNullable<SignIn['login']>> {
  const { data, errors } = await client.mutate(SIGN_IN, { input }, { anonymous: true });
  const answer = data?.login;
  if (answer == null) throw errors[0] ?? new Error('The server gave no answer.');
  return answer;
}

/** Keeps the token with its credentials, or forgets both if the token is null. */
function keep(next: string | null, given: Credentials | null = null): void {
  token = next;
  credentials = next === null ? null : given;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
