import type { Position } from 'trading-graph-client';
import { gql } from 'urql';

export const HOME = gql<Home>`
  query Home {
    session { id balance equity currency }
    positions { id symbol units profit }
    orders { id symbol units priceOpen }
    ... @defer { withdrawalMethods { id title status } }
  }
`;
interface Home {
  session: { id: string; balance: number | null; equity: number | null } | null;
  positions: Pick<Position, 'id' | 'symbol' | 'units' | 'profit'>[] | null;
  orders: { id: string; symbol: string; units: number | null; priceOpen: number | null }[] | null;
  withdrawalMethods?: { id: string; title: string | null; status: string | null }[] | null;
}
