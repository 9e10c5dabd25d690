import { useQuery, useSubscription } from '@apollo/client/react';
import { useState } from 'react';
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
  const [isLive, setLive] = useState(false);
  const { data: live } = useSubscription(CHANGES, {
    client,
    errorPolicy: 'ignore',
    context: { disconnected: () => setLive(false) },
    onData({ data: { data } }) {
      setLive(true);
      if (data) writeAccountChanges(client.cache, data.accountChanges);
    },
    onComplete: () => setLive(false),
  });
  const { data } = useQuery(ACCOUNT, { client, fetchPolicy: 'cache-only' });
  const { status, asOf } = live?.accountChanges ?? {};
  return { ...data, status: isLive ? status : 'OFFLINE', asOf };
}
