import type { ListChanges, LiveEvent } from '../../../lib/live/list-state.ts';
import type { Delta } from '../../../lib/live/timeline.ts';
import type { SessionAnswer } from '../../gateway/answers.ts';
import type { Order, Position } from '../../gateway/model.ts';
import type { PositionTotals } from './totals.ts';

/** One event of the positions. */
export type PositionChanges = ListChanges<Position, PositionTotals>;

/** One event of the whole account. */
export interface AccountChanges extends LiveEvent<PositionTotals> {
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
