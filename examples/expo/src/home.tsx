import { useEffect, useState } from 'react';
import { Text, View } from 'react-native';
import type { TypedText } from 'trading-graph-client';
import { useAccount } from 'trading-graph-client/react';
import type { TradingGraph } from './trading-graph';

interface HomeData {
  readonly session: {
    readonly balance: number | null;
    readonly equity: number | null;
    readonly currency: string | null;
  } | null;
  readonly positions:
    | readonly {
        readonly id: string;
        readonly symbol: string;
        readonly digits: number | null;
        readonly priceCurrent: number | null;
        readonly profit: number | null;
      }[]
    | null;
}

const HOME: TypedText<HomeData, Record<string, never>> = `
  query Home {
    session { id balance equity currency }
    positions { id symbol digits priceCurrent profit }
  }`;

const STATUS = {
  CONNECTING: 'Connecting',
  LIVE: 'Live',
  DELAYED: 'Delayed',
  OFFLINE: 'No connection',
};

export function Home({ client }: { readonly client: TradingGraph }) {
  // One event in 5 s: on cellular each costs money, and the radio never rests.
  const account = useAccount({ intervalMs: 5000 });
  const first = useFirst(client);
  const isConfirmed = account.asOf !== null && !account.isStale;
  const { session, positions } = isConfirmed ? account : (first ?? account);
  const since =
    account.status === 'LIVE' || account.asOf === null
      ? ''
      : `, as of ${account.asOf.toLocaleTimeString()}`;
  return (
    <View>
      <Text testID="status">
        {isConfirmed || first === null ? STATUS[account.status] : 'Connecting'}
        {since}
      </Text>
      <Text testID="equity">
        {session?.equity?.toFixed(2) ?? '–'} {session?.currency}
      </Text>
      {positions?.map(({ id, symbol, priceCurrent, profit, digits }) => (
        <Text key={id} testID="position">
          {symbol} {priceCurrent?.toFixed(digits ?? 2)} {profit?.toFixed(2)}
        </Text>
      ))}
    </View>
  );
}

/** The screen by one query, which leaves beside the line that opens and is answered before the first list. */
function useFirst(client: TradingGraph): HomeData | null {
  const [first, setFirst] = useState<HomeData | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    void client.query(HOME, {}, { signal: leaving.signal }).then(({ data }) => {
      if (!leaving.signal.aborted) setFirst(data);
    });
    return () => leaving.abort();
  }, [client]);
  return first;
}
