import { useEffect, useState } from 'react';
import { Button, Text, View } from 'react-native';
import type { ResumedOrder } from 'trading-graph-client';
import type { TradingGraph } from './trading-graph';

/** Orders that had no outcome when the app ended: each is asked for by its key, and none is sent again. */
export function EarlierOrders({ client: { orders } }: { readonly client: TradingGraph }) {
  const [earlier, setEarlier] = useState<readonly ResumedOrder[]>([]);

  useEffect(() => {
    let isShown = true;
    orders.resume().then(
      (found) => isShown && setEarlier(found),
      // Without a connection nothing is known of them; the next start asks again.
      () => {},
    );
    return () => {
      isShown = false;
    };
  }, [orders]);

  async function forget(order: ResumedOrder) {
    await order.forget();
    setEarlier((shown) => shown.filter((each) => each !== order));
  }

  return earlier.map((order) => (
    <View key={order.idempotencyKey}>
      <Text testID="earlier">
        An earlier order: {order.outcome.status}. Look at your positions.
      </Text>
      {/* Where it stays stored, it goes on being shown. */}
      <Button title="I have looked" onPress={() => void forget(order).catch(() => {})} />
    </View>
  ));
}
