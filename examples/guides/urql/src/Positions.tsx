import type { Position } from 'trading-graph-client';
import { gql, useQuery, useSubscription } from 'urql';

export const POSITIONS = gql<{ positions: Position[] | null }>`
  query Positions { positions { id symbol units profit } }
`;
export const LIVE = gql<{
  positionChanges: { status: 'LIVE' | 'DELAYED' | 'OFFLINE'; asOf: string };
}>`
  subscription Live($after: String) {
    positionChanges(after: $after, intervalMs: 500) {
      cursor snapshot upserted { id symbol units profit } ticks { id profit } closed status asOf
    }
  }
`;

export function Positions() {
  const [live] = useSubscription({ query: LIVE });
  const [{ data }] = useQuery({ query: POSITIONS });
  return (
    <section>
      <h2>Positions {live.data?.positionChanges.status ?? 'not live'}</h2>
      {data?.positions?.map(({ id, symbol, units, profit }) => (
        <p key={id}>
          {symbol} {units}: {profit}
        </p>
      ))}
    </section>
  );
}
