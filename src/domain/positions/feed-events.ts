import type { SessionAnswer } from '../../gateway/answers.ts';
import type { Order, Position } from '../../gateway/model.ts';
import type { Delta } from './timeline.ts';
import type { PositionTotals } from './totals.ts';

export type FeedStatus = 'LIVE' | 'DELAYED';

/** The fields that every event of changes has, whatever its reader received before. */
export interface FeedEvent {
  readonly cursor: string;
  readonly totals: PositionTotals;
  readonly status: FeedStatus;
  /** When the call was sent that last confirmed the list. */
  readonly asOf: Date;
}

/** One event of the positions: a whole list, or the delta from the last emitted list to the present one. */
export interface PositionChanges extends FeedEvent, Delta<Position> {
  readonly snapshot: boolean;
}

/** One event of the whole account. */
export interface AccountChanges extends FeedEvent {
  readonly snapshot: boolean;
  readonly positions: Delta<Position>;
  /** Null until a snapshot has had a list of orders. */
  readonly orders: ChangedOrders | null;
  /** The gateway's snapshot that the orders agree with; null until op 10 has answered. */
  readonly session: SessionAnswer | null;
}

export interface ChangedOrders {
  readonly upserted: readonly Order[];
  readonly closed: readonly string[];
  readonly fetchedAt: Date;
}
