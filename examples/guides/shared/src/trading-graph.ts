import { createClient, type TypedText } from 'trading-graph-client';
import { indexedDb } from 'trading-graph-client/indexed-db';
import { freshToken, keepToken, signedOut } from './session';

// In a browser the client itself asks `navigator.onLine` before an order leaves, and opens a new line at `online` and `visibilitychange`.
// Other platforms tell it by `environment.lifecycle`: `isOnline` and `onReturn`, as in react-native.md.
export const tradingGraph = createClient({
  url: import.meta.env.VITE_GRAPHQL_URL,
  token: freshToken,
  onSignedOut: signedOut,
  // The keys of orders outlive the page.
  storage: indexedDb({ name: 'my-app' }),
});

export async function signIn(email: string, password: string): Promise<boolean> {
  const again = () => fetchToken({ email, password });
  const token = await again().catch(() => null);
  keepToken(token, again);
  void tradingGraph.tokenChanged();
  return token !== null;
}

// The interface shows no operation that takes the `refreshToken` of `LoginSuccess`: a new token comes by another login.
async function fetchToken(input: object): Promise<string | null> {
  const { data, errors } = await tradingGraph.mutate(LOGIN, { input }, { anonymous: true });
  if (data?.login == null) throw errors[0] ?? new Error('No answer.');
  return data.login.accessToken ?? null;
}

const LOGIN: TypedText<{ login: { accessToken?: string } | null }, { input: object }> =
  'mutation Login($input: LoginInput!) { login(input: $input) { ... on LoginSuccess { accessToken } } }';
