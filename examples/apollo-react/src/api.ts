import { ApolloClient, InMemoryCache } from '@apollo/client';
import { createClient } from 'trading-graph-client';
import { possibleTypes, tradingGraphLink, typePolicies } from 'trading-graph-client/apollo';
import { indexedDb } from 'trading-graph-client/indexed-db';
import { sessionEnded, token } from './session.ts';

export const tradingGraph = createClient({
  url: import.meta.env.VITE_GRAPHQL_URL ?? 'http://127.0.0.1:4000/graphql',
  token,
  // The keys of orders outlive the page.
  storage: indexedDb({ name: 'trading-graph-apollo' }),
  onSignedOut: sessionEnded,
});

export const apollo = new ApolloClient({
  link: tradingGraphLink(tradingGraph),
  cache: new InMemoryCache({ possibleTypes, typePolicies }),
});

// The cache is one account's. After a sign-out it is cleared, and the next account's first rows may be there by then.
let former: string | null = null;
tradingGraph.onAccountChange((login) => {
  if (login === null || former !== null) void apollo.clearStore();
  former = login;
});
