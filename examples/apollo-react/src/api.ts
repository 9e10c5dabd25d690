import { ApolloClient, InMemoryCache } from '@apollo/client';
import { createClient } from 'trading-graph-client';
import { possibleTypes, tradingGraphLink, typePolicies } from 'trading-graph-client/apollo';
import { sessionEnded, token } from './session.ts';

export const tradingGraph = createClient({
  url: import.meta.env.VITE_GRAPHQL_URL ?? 'http://127.0.0.1:4000/graphql',
  token,
  onSignedOut: sessionEnded,
});

export const apollo = new ApolloClient({
  link: tradingGraphLink(tradingGraph),
  cache: new InMemoryCache({ possibleTypes, typePolicies }),
});

// The cache is one account's.
tradingGraph.onAccountChange((login) => {
  if (login === null) void apollo.clearStore();
});
