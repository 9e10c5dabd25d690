import { useMemo, useState, useSyncExternalStore } from 'react';
import type { FollowedOrder } from '../orders/order-list.ts';
import type { OrderProgress, Ticket, TicketState } from '../orders/ticket.ts';
import { featureOf } from './any-client.ts';
import { useProvided } from './provider.ts';

/** A form's order, and the form's actions on it. */
export type TicketForm = TicketState &
  Pick<Ticket, 'place' | 'placeLimit' | 'retry' | 'reset'> & {
    /** Null unless the order is under way. */
    readonly progress: OrderProgress | null;
  };

const READY: TicketState = { status: 'ready', outcome: null };
const NONE: readonly FollowedOrder[] = [];

/**
 * A ticket for a form. It becomes at most one order. It is reset by `reset`, and if another account signs in. By default it
 * lives as long as the component. With a given ticket, a form that is unmounted in between shows the same order again. An
 * order continues after its component is unmounted.
 */
export function useTicket(given?: Ticket): TicketForm {
  const orders = featureOf(useProvided(), 'orders');
  const [kept, keep] = useState(() => ({ orders, ticket: orders.ticket() }));
  if (kept.orders !== orders) keep({ orders, ticket: orders.ticket() });
  const ticket = given ?? kept.ticket;
  const state = useSyncExternalStore(ticket.follow, ticket.state, () => READY);
  return useMemo(
    () => ({
      progress: null,
      ...state,
      place: (input, options) => ticket.place(input, options),
      placeLimit: (input, options) => ticket.placeLimit(input, options),
      retry: (options) => ticket.retry(options),
      reset: () => ticket.reset(),
    }),
    [ticket, state],
  );
}

/** The orders of this run of the app, under way and settled, the last 100 of the account, oldest first. */
export function useOrders(): readonly FollowedOrder[] {
  const { follow, state } = featureOf(useProvided(), 'orders');
  return useSyncExternalStore(follow, state, () => NONE);
}
