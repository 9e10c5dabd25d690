import { useState } from 'react';
import { TradingGraphProvider } from 'trading-graph-client/react';
import { Provider } from 'urql';
import { OrderForm } from './OrderForm';
import { Positions } from './Positions';
import { signIn, tradingGraph } from './trading-graph';
import { client } from './urql';

export default function App() {
  const [isSignedIn, setSignedIn] = useState(false);
  const enter = async () => setSignedIn(await signIn('demo@example.com', 'demo'));
  if (!isSignedIn)
    return (
      <button type="button" onClick={enter}>
        Sign in
      </button>
    );
  return (
    <Provider value={client}>
      <Positions />
      <TradingGraphProvider client={tradingGraph}>
        <OrderForm symbol="AAPL" />
      </TradingGraphProvider>
    </Provider>
  );
}
