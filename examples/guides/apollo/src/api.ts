import { ApolloClient, InMemoryCache } from '@apollo/client';
import { possibleTypes, tradingGraphLink, typePolicies } from 'trading-graph-client/apollo';
import { tradingGraph } from './trading-graph';

export const apollo = new ApolloClient({
  link: tradingGraphLink(tradingGraph),
  cache: new InMemoryCache({ possibleTypes, typePolicies }),
});
