import { Suspense, useState } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { TradingGraphProvider } from 'trading-graph-client/react';
import { OrderForm } from './OrderForm';
import { Positions } from './Positions';
import { environment } from './relay';
import { signIn, tradingGraph } from './trading-graph';

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
    <RelayEnvironmentProvider environment={environment}>
      <Suspense fallback="Loading">
        <Positions />
      </Suspense>
      <TradingGraphProvider client={tradingGraph}>
        <OrderForm symbol="AAPL" />
      </TradingGraphProvider>
    </RelayEnvironmentProvider>
  );
}
