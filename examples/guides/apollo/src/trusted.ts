import { ApolloLink, type DocumentNode } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { tradingGraphLink } from 'trading-graph-client/apollo';
import { tradingGraph } from './trading-graph';

interface Hashed extends DocumentNode {
  __meta__?: { hash: string };
}

export const trustedLink = ApolloLink.from([
  new PersistedQueryLink({ generateHash: (document: Hashed) => document.__meta__?.hash ?? '' }),
  tradingGraphLink(tradingGraph),
]);
