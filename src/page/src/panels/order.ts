import type { OrderOutcome } from '../../../../client/src/orders/outcome.ts';
import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { find, h, setText } from '../dom.ts';
import { onClick } from '../on-click.ts';
import { HAS_CONTROLS, ordersReceived } from '../sandbox.ts';

type Details = readonly (readonly [name: string, value: string])[];

const WORDS: Readonly<Record<OrderOutcome['status'] | 'pending', readonly [string, string]>> = {
  pending: [
    'On its way',
    'The key is stored. Whatever happens to this page, the order is sent once.',
  ],
  accepted: ['Accepted', 'The position is in the live list.'],
  rejected: ['Rejected', 'Nothing was traded.'],
  unknown: [
    'Unknown',
    'No clear answer came. The same key never trades twice, so it is safe to ask again.',
  ],
  unsent: ['Not placed', 'Nothing was traded, and this order will never be.'],
};

/** Places orders by tickets. Each ticket becomes at most one order, even if the connection fails. */
export function startOrder(app: App): void {
  const form = find('order-form', HTMLFormElement);
  form.addEventListener('submit', (event) => event.preventDefault());
  onClick(find('order-place', HTMLButtonElement), () => place(app, form, 1));
  onClick(find('order-twice', HTMLButtonElement), () => place(app, form, 2));
}

/** Places one ticket as often as the button is tapped at the same moment. */
async function place(app: App, form: HTMLFormElement, taps: number): Promise<void> {
  const symbol = String(new FormData(form).get('symbol'));
  const order = { symbol, side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
  const ticket = app.client.orders.ticket();
  show('pending', [['Key', ticket.idempotencyKey]]);
  const before = await receivedOrders(app);
  const outcomes = await Promise.all(Array.from({ length: taps }, () => ticket.place(order)));
  const after = await receivedOrders(app);
  const [outcome] = outcomes;
  if (outcome === undefined) return;
  const isCounted = before !== null && after !== null;
  const sent: Details = isCounted ? [['Orders at the gateway', String(after - before)]] : [];
  show(outcome.status, [
    ['Key', ticket.idempotencyKey],
    ...(taps > 1 ? [['Taps', String(taps)] as const] : []),
    ...detailsOf(outcome),
    ...sent,
  ]);
}

function show(status: OrderOutcome['status'] | 'pending', details: Details): void {
  const [title, advice] = WORDS[status];
  find('order-outcome', HTMLElement).dataset.status = status;
  setText(find('order-title', HTMLElement), title);
  setText(find('order-advice', HTMLElement), advice);
  find('order-details', HTMLElement).replaceChildren(
    ...details.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
  announce(`Order: ${title}. ${advice}`);
}

function detailsOf(outcome: OrderOutcome): Details {
  switch (outcome.status) {
    case 'accepted':
      return [['Order', outcome.orderId ?? '–']];
    case 'rejected':
      return [['Reason', outcome.error ?? '–']];
    case 'unknown':
      return [['Sent at', outcome.sentAt]];
    default:
      return [['Reason', outcome.error.message]];
  }
}

/** The number of orders that the gateway has received; null if this page cannot ask the gateway. */
async function receivedOrders(app: App): Promise<number | null> {
  const { session } = app.client.account.state();
  return HAS_CONTROLS && session ? ordersReceived(session.login).catch(() => null) : null;
}
