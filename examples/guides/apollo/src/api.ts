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
