import { ApolloClient, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { possibleTypes, tradingGraphLink, typePolicies } from 'trading-graph-client/apollo';
import { tradingGraph } from './trading-graph';

export const apollo = new ApolloClient({
  link: tradingGraphLink(tradingGraph),
  cache: new InMemoryCache({ possibleTypes, typePolicies }),
  // A screen is drawn before its slowest part is there.
  incrementalHandler: new Defer20220824Handler(),
});

// The cache is one account's. After a sign-out it is empty, and may have the next account's first rows by the time that one is named.
let isCleared = false;
tradingGraph.onAccountChange((login) => {
  if (!isCleared) void apollo.clearStore();
  isCleared = login === null;
});
