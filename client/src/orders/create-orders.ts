import type { Core } from '../core.ts';
import { type FollowedOrder, OrderList } from './order-list.ts';
import { OrderTicket } from './order-ticket.ts';
import { resumeOrders } from './resume-orders.ts';
import type { ResumedOrder, ResumeOptions } from './resumed-order.ts';
import { StoredKeys } from './stored-keys.ts';
import type { Ticket, TicketOptions } from './ticket.ts';
import type { TicketContext } from './ticket-context.ts';

/** Orders that are placed once, and whose outcome is found again after a restart of the app. */
export interface Orders {
  /** A new order. Nothing is stored or sent before it is placed. */
  ticket(options?: TicketOptions): Ticket;
  /**
   * Finds the outcomes of this account's orders that the app had not shown when it ended: accepted, rejected, unsent, or
   * unknown. It sends no order. If an order has not arrived, its key is closed, so that the order is never executed. Call
   * it at the start of the app and after signing in. Rejects with a TradingGraphError if no user is signed in, the server
   * cannot be reached, or the storage cannot be read. Without a storage the list is empty.
   */
  resume(options?: ResumeOptions): Promise<readonly ResumedOrder[]>;
  /**
   * Calls the listener now and after each change with the last 100 orders that this account has placed since the app
   * started, oldest first. Returns a function that removes the listener.
   */
  follow(listener: (orders: readonly FollowedOrder[]) => void): () => void;
  /** The same orders now: the same array until something changes. */
  state(): readonly FollowedOrder[];
}

export interface OrdersOptions {
  /** Whether orders are placed even if the storage refuses their keys, so that `resume` would not find them. */
  readonly allowVolatile?: boolean | undefined;
}

export function createOrders(core: Core, options: OrdersOptions = {}): Orders {
  const { allowVolatile = false } = options;
  const disposal = new AbortController();
  core.onDispose(() => disposal.abort());
  const keys = core.storage && new StoredKeys(core.storage);
  const context: TicketContext = {
    core,
    keys,
    allowVolatile,
    disposal: disposal.signal,
    underWay: new Set(),
    list: new OrderList(core),
  };
  const { follow, state } = context.list;
  return {
    ticket: (own = {}) => new OrderTicket(context, own),
    resume: async (own = {}) => (keys === null ? [] : resumeOrders(context, keys, own)),
    follow,
    state,
  };
}
