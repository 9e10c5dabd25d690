import type { PendingOrder, Position } from '../generated/rows.ts';
import type { AccountChanges, PolledAccount } from './account-operation.ts';
import { type FoldedList, foldList, polledList } from './fold-list.ts';
import type { AccountFigures, FoldOptions } from './live-source.ts';
import { applyChanges, idOf, isSame, withKnownRows } from './rows.ts';

/** The result of all events so far; the rows are the positions. */
export interface FoldedAccount extends FoldedList<Position> {
  readonly orders: PendingOrders | null;
  readonly session: AccountFigures | null;
}

/** The pending orders, and when the gateway gave them. */
export interface PendingOrders {
  readonly list: readonly PendingOrder[];
  readonly fetchedAt: Date;
}

/**
 * Applies an event. The result is the state itself if the event was applied before, and null if an event is missing or came
 * out of order. The positions decide that, because each event has the time and the number of the positions.
 */
export function foldAccount(
  state: FoldedAccount | null,
  event: AccountChanges,
  options: FoldOptions = {},
): FoldedAccount | null {
  const live = foldList(state, { ...event, ...event.positions }, idOf, options);
  if (live === null) return null;
  // The event was applied before, and so was a later one.
  if (live === state && event.cursor !== state.cursor) return state;
  const orders = ordersAfter(state?.orders ?? null, event);
  const known = state?.session ?? null;
  const latest = event.session ?? known;
  const session = known !== null && latest !== null && isSame(known, latest) ? known : latest;
  if (live === state && state.orders === orders && state.session === session) return state;
  return { ...live, orders, session };
}

/**
 * The account from a query that was sent at this time; null if the answer lacks the positions. Other missing parts stay
 * unchanged.
 */
export function polledAccount(
  state: FoldedAccount | null,
  data: PolledAccount,
  sentAt: Date,
): FoldedAccount | null {
  const live = polledList(state, data, sentAt);
  if (live === null) return null;
  const known = state?.orders ?? null;
  const list = data.orders && withKnownRows(known?.list ?? [], data.orders, idOf);
  const session = data.session ?? state?.session ?? null;
  const fetchedAt = data.session ? new Date(data.session.fetchedAt ?? sentAt) : sentAt;
  return { ...live, orders: list ? { list, fetchedAt } : known, session };
}

/** A snapshot without orders discards the known ones: otherwise orders that have ended since would stay for ever. */
function ordersAfter(
  known: PendingOrders | null,
  { snapshot, orders }: AccountChanges,
): PendingOrders | null {
  if (orders == null) return snapshot ? null : known;
  const before = known?.list ?? [];
  const list = snapshot
    ? withKnownRows(before, orders.upserted, idOf)
    : (applyChanges(before, orders, idOf) ?? before);
  const fetchedAt = new Date(orders.fetchedAt);
  const isKnown = list === known?.list && fetchedAt.getTime() === known.fetchedAt.getTime();
  return isKnown ? known : { list, fetchedAt };
}
