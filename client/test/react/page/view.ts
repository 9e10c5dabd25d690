import { createElement, type ReactElement, StrictMode, useState } from 'react';
import type { Client } from '../../../src/create-client.ts';
import { TradingGraphProvider } from '../../../src/react/provider.ts';
import { useLive, usePosition, usePositions } from '../../../src/react/use-live.ts';
import { type TicketForm, useOrders, useTicket } from '../../../src/react/use-ticket.ts';

export interface View {
  readonly positions?: number;
  readonly ticket?: boolean;
  /** A position to show separately, with the number of all positions. */
  readonly apart?: string;
  readonly intervalMs?: number;
}

/** What the components have shown. */
export interface Shown {
  /** The last state of the order's form. */
  ticket: TicketForm | null;
  /** How often lists and the order's form were rendered. */
  renders: number;
  /** How often the number of positions was rendered. */
  counts: number;
}

export const shown: Shown = { ticket: null, renders: 0, counts: 0 };

export function app(client: Client, view: View): ReactElement {
  const { positions = 0, ticket = false, intervalMs } = view;
  const lists = Array.from({ length: positions }, (_, at) =>
    createElement(PositionList, {
      key: `positions-${at}`,
      ...(intervalMs !== undefined && { intervalMs }),
    }),
  );
  const children = [
    ...lists,
    ticket && createElement(Order, { key: 'ticket' }),
    view.apart && createElement(Apart, { key: 'apart', id: view.apart }),
    view.apart && createElement(Count, { key: 'count' }),
  ];
  return createElement(StrictMode, null, createElement(TradingGraphProvider, { client }, children));
}

function PositionList(options: { intervalMs?: number }): ReactElement {
  const { status, positions, totals } = usePositions(options);
  shown.renders += 1;
  const rows = positions?.map(({ id, profit }) => ({ id, profit }));
  return createElement(
    'output',
    { className: 'positions' },
    JSON.stringify({ status, rows, totals }),
  );
}

function Apart({ id }: { readonly id: string }): ReactElement {
  const position = usePosition(id);
  const text = JSON.stringify(position ? { id, profit: position.profit } : null);
  return createElement('output', { className: 'apart' }, text);
}

function Count(): ReactElement {
  const { count } = useLive(({ positions }) => ({ count: positions?.length ?? null }));
  shown.counts += 1;
  return createElement('output', { className: 'count' }, JSON.stringify({ count }));
}

function Order(): ReactElement {
  const orders = useOrders();
  // A form that is mounted again shows the order under way.
  const [underWay] = useState(() => orders.find(({ outcome }) => outcome === null)?.ticket);
  const ticket = useTicket(underWay);
  shown.ticket = ticket;
  shown.renders += 1;
  const { status, outcome, progress } = ticket;
  return createElement(
    'output',
    { className: 'ticket' },
    JSON.stringify({ status, outcome, progress }),
  );
}
