import { useState } from 'react';
import { Provider } from 'urql';
import { OrderForm } from './OrderForm';
import { Positions } from './Positions';
import { signIn } from './trading-graph';
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
      <OrderForm symbol="AAPL" />
    </Provider>
  );
}
