import { useEffect, useState } from 'react';
import { Button, Text, View } from 'react-native';
import type { ResumedOrder } from 'trading-graph-client';
import { useAccount } from 'trading-graph-client/react';
import type { TradingGraph } from './trading-graph';

/** Orders that had no outcome when the app ended: each is asked for by its key, and none is sent again. */
export function EarlierOrders({ client: { orders } }: { readonly client: TradingGraph }) {
  const { status, error } = useAccount({ intervalMs: 5000 });
  const line = status === 'OFFLINE' ? error?.code : status;
  const [earlier, setEarlier] = useState<readonly ResumedOrder[] | null>(null);

  useEffect(() => {
    // Without a connection nothing is known of them: they are asked for again with each change of the line.
    if (earlier === null && line !== undefined) orders.resume().then(setEarlier, () => {});
  }, [orders, earlier, line]);

  async function forget(order: ResumedOrder) {
    await order.forget();
    setEarlier((shown) => shown?.filter((each) => each !== order) ?? null);
  }

  return earlier?.map((order) => (
    <View key={order.idempotencyKey}>
      <Text testID="earlier">
        An earlier order: {order.outcome.status}. Look at your positions.
      </Text>
      {/* Where it stays stored, it goes on being shown. */}
      <Button title="I have looked" onPress={() => void forget(order).catch(() => {})} />
    </View>
  ));
}
