import type { Core } from '../core.ts';
import { checkStorage } from '../storage/check-storage.ts';
import type { ClientStorage } from '../storage.ts';
import { OrderTicket } from './order-ticket.ts';
import { resumeOrders } from './resume-orders.ts';
import type { ResumedOrder } from './resumed-order.ts';
import { StoredKeys } from './stored-keys.ts';
import type { Ticket, TicketOptions } from './ticket.ts';
import type { TicketContext } from './ticket-context.ts';

/** Orders that are placed once, and whose outcome is found again after a restart of the app. */
export interface Orders {
  /** A new order. Nothing is stored or sent before it is placed. */
  ticket(options?: TicketOptions): Ticket;
  /**
   * The outcomes of this account's orders that had none when the app ended. Sends no order, and closes the keys of those
   * whose time is over. Call it at the
   * start of the app and after signing in. Rejects with a TradingGraphError where nobody is signed in, the server
   * cannot be reached, or the storage cannot be read; empty where there is no storage.
   */
  resume(): Promise<readonly ResumedOrder[]>;
}

export interface OrdersOptions {
  /** Whether orders are placed also where the storage refuses their keys, so that `resume` would not find them. */
  readonly allowVolatile?: boolean | undefined;
  /** Where the keys are kept, in place of the client's storage: one of its own is not full because of what else is kept. */
  readonly storage?: ClientStorage | undefined;
}

export function createOrders(core: Core, options: OrdersOptions = {}): Orders {
  checkStorage('storage', options.storage);
  const { allowVolatile = false, storage = core.storage } = options;
  const disposal = new AbortController();
  core.onDispose(() => disposal.abort());
  const keys = storage && new StoredKeys(storage);
  const context: TicketContext = {
    core,
    keys,
    allowVolatile,
    disposal: disposal.signal,
    underWay: new Set(),
  };
  return {
    ticket: ({ maxWaitMs } = {}) =>
      new OrderTicket(context, core.environment.randomId(), { maxWaitMs }),
    resume: async () => (keys === null ? [] : resumeOrders(context, keys)),
  };
}
