import type { SessionAnswer } from '../../gateway/answers.ts';
import type { Order, Position } from '../../gateway/model.ts';
import type { Delta } from './timeline.ts';
import type { PositionTotals } from './totals.ts';

export type FeedStatus = 'LIVE' | 'DELAYED';

/** The fields that every event has, whatever its reader received before. */
export interface FeedSummary {
  readonly cursor: string;
  readonly totals: PositionTotals;
  readonly status: FeedStatus;
  /** When the call was sent that last confirmed the list. */
  readonly asOf: Date;
}

/** One event of the positions: a whole list, or the delta from the last emitted list to the present one. */
export interface PositionChanges extends FeedSummary, Delta<Position> {
  readonly snapshot: boolean;
}

export interface AccountSummary extends FeedSummary {
  /** The gateway's snapshot that the orders agree with; null until op 10 has answered. */
  readonly session: SessionAnswer | null;
  /** Null until a snapshot has had a list of orders. */
  readonly ordersFetchedAt: Date | null;
}

/** One event of the whole account. */
export interface AccountChanges extends FeedSummary {
  readonly snapshot: boolean;
  readonly positions: Delta<Position>;
  readonly orders: ChangedOrders | null;
  readonly session: SessionAnswer | null;
}

export interface ChangedOrders {
  readonly upserted: readonly Order[];
  readonly closed: readonly string[];
  readonly fetchedAt: Date;
}
