import { useEffect, useState } from 'react';
import { Button, ScrollView, Text } from 'react-native';
import { TradingGraphProvider } from 'trading-graph-client/react';
import { EarlierOrders } from './earlier-orders';
import { Home } from './home';
import { OrderForm } from './order-form';
import { signOut, unlock, useSessionStatus } from './session';
import { SignIn } from './sign-in';
import { openTradingGraph, type TradingGraph } from './trading-graph';

const opening = openTradingGraph();

export function App() {
  const [client, setClient] = useState<TradingGraph | null>(null);
  useEffect(() => {
    void opening.then((opened) => setClient(() => opened));
  }, []);
  return client === null ? <Text>Opening …</Text> : <Opened client={client} />;
}

function Opened({ client }: { readonly client: TradingGraph }) {
  const status = useSessionStatus();
  const changed = () => void client.tokenChanged();
  if (status === 'signed-out') return <SignIn onSignedIn={changed} />;
  return (
    <TradingGraphProvider client={client}>
      <ScrollView>
        {status === 'locked' && (
          <Button title="Unlock to go on" onPress={() => void unlock().then(changed, () => {})} />
        )}
        <Home client={client} />
        <EarlierOrders client={client} />
        <OrderForm />
        <Button title="Sign out" onPress={() => void signOut().then(changed)} />
      </ScrollView>
    </TradingGraphProvider>
  );
}
