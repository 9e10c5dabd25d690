import { useQuery, useSubscription } from '@apollo/client/react';
import { useState } from 'react';
import { writePositionChanges } from 'trading-graph-client/apollo';
import { TradingGraphProvider } from 'trading-graph-client/react';
import { apollo as client } from './api';
import { LIVE, POSITIONS } from './documents';
import { OrderForm } from './OrderForm';
import { signIn, tradingGraph } from './trading-graph';

await signIn('demo@example.com', 'demo');

export default function App() {
  const [isLive, setLive] = useState(false);
  const { data: live } = useSubscription(LIVE, {
    client,
    // `useSubscription` gives `onData` no event that has an error, though it holds all but the field that failed.
    errorPolicy: 'ignore',
    context: { disconnected: () => setLive(false) },
    onData({ data: { data } }) {
      setLive(true);
      if (data) writePositionChanges(client.cache, data.positionChanges);
    },
    onComplete: () => setLive(false),
  });
  const { data } = useQuery(POSITIONS, { client, fetchPolicy: 'cache-only' });
  const rows = data?.positions?.map(({ id, symbol, profit }) => (
    <p key={id}>
      {symbol}: {profit}
    </p>
  ));
  return (
    <main>
      <h2>Positions {isLive ? live?.positionChanges.status : 'not live'}</h2>
      <section>{rows}</section>
      <TradingGraphProvider client={tradingGraph}>
        <OrderForm symbol="AAPL" />
      </TradingGraphProvider>
    </main>
  );
}
