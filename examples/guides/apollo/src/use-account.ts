import { useQuery, useSubscription } from '@apollo/client/react';
import { writeAccountChanges } from 'trading-graph-client/apollo';
import { apollo as client } from './api';
import { graphql } from './gql';

const ACCOUNT = graphql(`
  query Account { session { id balance equity currency } positions { id symbol profit } orders { id symbol kind priceOpen } }
`);
const CHANGES = graphql(`
  subscription AccountLive($after: String) {
    accountChanges(after: $after, intervalMs: 500) {
      cursor snapshot status asOf
      positions { upserted { id symbol profit } ticks { id profit } closed }
      orders { upserted { id symbol kind priceOpen } closed fetchedAt }
      session { id balance equity currency fetchedAt }
    }
  }
`);

export function useAccount() {
  const { data: live } = useSubscription(CHANGES, {
    client,
    onData: ({ data: { data } }) => data && writeAccountChanges(client.cache, data.accountChanges),
  });
  const { data } = useQuery(ACCOUNT, { client, fetchPolicy: 'cache-only' });
  return { ...data, status: live?.accountChanges.status, asOf: live?.accountChanges.asOf };
}
