import { createClient, type TypedText } from 'trading-graph-client';
import { freshToken, keepToken, signedOut } from './session';

// In a browser the client itself asks `navigator.onLine` before an order leaves, and opens a new line at `online` and `visibilitychange`.
// Other platforms tell it by `environment.lifecycle`: `isOnline` and `onReturn`, as in react-native.md.
export const tradingGraph = createClient({
  url: import.meta.env.VITE_GRAPHQL_URL,
  token: freshToken,
  onSignedOut: signedOut,
});

export async function signIn(email: string, password: string): Promise<boolean> {
  const input = { email, password };
  const { data } = await tradingGraph.mutate(LOGIN, { input }, { anonymous: true });
  const token = data?.login?.accessToken ?? null;
  keepToken(token);
  void tradingGraph.tokenChanged();
  return token !== null;
}

const LOGIN: TypedText<{ login: { accessToken?: string } | null }, { input: object }> =
  'mutation Login($input: LoginInput!) { login(input: $input) { ... on LoginSuccess { accessToken } } }';
