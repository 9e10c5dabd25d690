import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { type AccountData, PENDING_ORDERS, type PendingOrder } from '../documents.ts';
import { find, h, onClick, setText } from '../dom.ts';
import { formatPrice, plural } from '../format.ts';
import { sandbox } from '../sandbox.ts';

const RETRY_MS = 3_000;
/** So near that a moving market reaches it within a minute or so. */
const NEAR = 0.9995;
const AMOUNT = 200;

/** The orders that wait for a price; one that is reached becomes a position of the same id. */
export function startPendingOrders(app: App): void {
  const rows = find('pending-rows', HTMLElement);
  const orders = new Map<string, PendingOrder>();
  const open = new Set<string>();
  let cursor: string | null = null;

  function follow(): void {
    app.client.subscribe(PENDING_ORDERS, () => ({ after: cursor }), {
      next: ({ data }) => data && fold(data.accountChanges),
      // The gateway may not have answered yet.
      ended: () => setTimeout(follow, RETRY_MS),
    });
  }

  function fold(event: AccountData['accountChanges']): void {
    const { snapshot, positions } = event;
    cursor = event.cursor;
    if (snapshot) open.clear();
    for (const id of positions.closed) open.delete(id);
    for (const { id } of positions.upserted) open.add(id);
    if (event.orders === null) return;
    if (snapshot) orders.clear();
    announceTriggered(event.orders.closed);
    for (const id of event.orders.closed) orders.delete(id);
    for (const order of event.orders.upserted) orders.set(order.id, order);
    draw([...orders.values()]);
  }

  function announceTriggered(closed: readonly string[]): void {
    const news = closed
      .filter((id) => open.has(id))
      .map((id) => `${orders.get(id)?.symbol}: the order has become a position.`);
    if (news.length > 0) tell(news.join(' '));
  }

  function tell(text: string): void {
    setText(find('pending-news', HTMLElement), text);
    announce(text);
  }

  function draw(orders: readonly PendingOrder[]): void {
    setText(find('pending-count', HTMLElement), plural(orders.length, 'pending order'));
    // A button that has the focus stays in the page while its row does.
    const kept = new Map(
      [...rows.children].map((row) => [(row as HTMLElement).dataset.id ?? '', row as HTMLElement]),
    );
    const shown = orders.map((order) => {
      const row = kept.get(order.id) ?? createRow(order);
      const price = row.querySelector('.now');
      if (price) setText(price, formatPrice(order.priceCurrent, order.digits));
      return row;
    });
    for (const [, row] of kept) if (!shown.includes(row)) row.remove();
    for (const [at, row] of shown.entries()) {
      if (rows.children[at] !== row) rows.insertBefore(row, rows.children[at] ?? null);
    }
  }

  function createRow({ id, symbol, side, kind, priceOpen, digits }: PendingOrder): HTMLElement {
    const trigger = h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'aria-label': `Trigger ${symbol}: move the market to ${formatPrice(priceOpen, digits)}`,
      },
      'Trigger',
    );
    onClick(trigger, async () => {
      if (priceOpen !== null) await sandbox.putPrice(symbol, priceOpen);
    });
    return h(
      'li',
      { 'data-id': id },
      h('b', {}, symbol),
      h(
        'span',
        { class: 'terms' },
        h('span', {}, `${side} ${kind?.toLowerCase()} at ${formatPrice(priceOpen, digits)}`),
        h('span', { class: 'distance' }, 'now ', h('span', { class: 'now' })),
      ),
      trigger,
    );
  }

  async function add(): Promise<void> {
    const position = app.client.positions.state().positions[0];
    // The graph tells the prices of what the account holds.
    if (position === undefined || position.priceCurrent === null) {
      return tell('Place an order first: the position tells where the market is.');
    }
    const { symbol, priceCurrent, digits } = position;
    const price = Number((priceCurrent * NEAR).toFixed(digits ?? 2));
    const outcome = await app.client.orders
      .ticket()
      .placeLimit({ symbol, side: 'BUY', amount: AMOUNT, price });
    tell(
      outcome.status === 'accepted'
        ? `${symbol}: an order waits for ${price}.`
        : `${symbol}: ${outcome.status}.`,
    );
  }

  onClick(find('pending-add', HTMLButtonElement), add);
  follow();
}
