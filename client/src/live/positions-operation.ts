import type { TypedText } from '../operation.ts';
import type { ListChanges, LiveEvent, LiveVariables } from './live-source.ts';
import { POSITION_FIELDS } from './position-fields.ts';

/** Bought, or sold short. */
export type Side = 'BUY' | 'SELL';

/** An open position: every plain field of the server's. Fields that the gateway left out are null. */
export interface Position {
  readonly id: string;
  readonly symbol: string;
  readonly name: string | null;
  readonly logo: string | null;
  readonly side: Side | null;
  readonly units: number | null;
  readonly invested: number | null;
  readonly leverage: number | null;
  readonly priceOpen: number | null;
  readonly priceCurrent: number | null;
  readonly digits: number | null;
  /** Profit, or loss where it is below 0. */
  readonly profit: number | null;
  /** The cost or gain so far of holding it overnight. */
  readonly storage: number | null;
  readonly stopLoss: number | null;
  readonly takeProfit: number | null;
  readonly rateMargin: number | null;
  readonly rateProfit: number | null;
  readonly delayed: boolean | null;
  readonly sharia: boolean | null;
  readonly comment: string | null;
  /** In ISO 8601, as the server writes it. */
  readonly createdAt: string | null;
  /** In ISO 8601, as the server writes it. */
  readonly updatedAt: string | null;
}

/** Exact sums over the list, in no stated currency; null where a position does not say. */
export interface PositionTotals {
  readonly count: number;
  readonly invested: number | null;
  readonly profit: number | null;
}

/** One event of the subscription. */
export interface PositionChanges extends LiveEvent, ListChanges<Position> {}

export interface PositionChangesData {
  readonly positionChanges: PositionChanges;
}

export const POSITION_CHANGES: TypedText<PositionChangesData, LiveVariables> =
  `subscription PositionChanges($after: String, $intervalMs: Int) {
  positionChanges(after: $after, intervalMs: $intervalMs) {
    cursor snapshot
    upserted {
      ${POSITION_FIELDS}
    }
    closed totals { count invested profit } status asOf
  }
}`;
