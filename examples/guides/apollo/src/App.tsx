import { useQuery, useSubscription } from '@apollo/client/react';
import { writePositionChanges } from 'trading-graph-client/apollo';
import { apollo as client } from './api';
import { LIVE, POSITIONS } from './documents';
import { OrderForm } from './OrderForm';
import { signIn } from './trading-graph';

await signIn('demo@example.com', 'demo');

export default function App() {
  const { data: live, error } = useSubscription(LIVE, {
    client,
    onData: ({ data: { data } }) =>
      data && writePositionChanges(client.cache, data.positionChanges),
  });
  const { data } = useQuery(POSITIONS, { client, fetchPolicy: 'cache-only' });
  const rows = data?.positions?.map(({ id, symbol, profit }) => (
    <p key={id}>
      {symbol}: {profit}
    </p>
  ));
  const status = error ? 'not live' : live?.positionChanges.status;
  return (
    <main>
      <h2>Positions {status}</h2>
      {rows}
      <OrderForm client={client} symbol="AAPL" />
    </main>
  );
}
