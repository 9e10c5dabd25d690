import type { PendingOrder } from '../../../client/src/generated/rows.ts';
import type { AccountState } from '../../../client/src/live/states.ts';
import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { find, h, setText } from '../dom.ts';
import { formatPrice, formatTime, plural } from '../format.ts';
import { onClick } from '../on-click.ts';
import { sandbox } from '../sandbox.ts';

/** The orders that wait for a price; one that is reached becomes a position of the same id. */
export function startPendingOrders(app: App): void {
  const rows = find('pending-rows', HTMLElement);
  const news = find('pending-news', HTMLElement);
  const hint = [...news.childNodes];
  let shown: readonly PendingOrder[] = [];

  function draw({ orders, ordersAsOf, positions, asOf }: AccountState): void {
    // The gateway has not said any yet; without a list at all, another account is signed in.
    if (orders === null && asOf !== null) return;
    const present = orders ?? [];
    const ids = new Set(present.map(({ id }) => id));
    const open = new Set(positions?.map(({ id }) => id));
    const reached = shown
      .filter(({ id }) => !ids.has(id) && open.has(id))
      .map(({ symbol }) => `${symbol}: the order has become a position.`);
    if (reached.length > 0) {
      setText(news, reached.join(' '));
      announce(reached.join(' '));
    }
    shown = present;
    drawRows(present, ordersAsOf);
    const count = orders === null ? '' : plural(orders.length, 'pending order');
    setText(find('pending-count', HTMLElement), count);
  }

  function drawRows(orders: readonly PendingOrder[], pricedAt: Date | null): void {
    // A button that has the focus stays in the page while its row does.
    const kept = new Map(
      [...rows.children].map((row) => [(row as HTMLElement).dataset.id ?? '', row as HTMLElement]),
    );
    const wanted = orders.map((order) => {
      const row = kept.get(order.id) ?? createRow(order);
      const price = row.querySelector('.distance');
      // Its price comes with the list, which the gateway tells more seldom than positions.
      const words = `${formatPrice(order.priceCurrent, order.digits)} as of ${formatTime(pricedAt)}`;
      if (price) setText(price, words);
      return row;
    });
    for (const [, row] of kept) if (!wanted.includes(row)) row.remove();
    for (const [at, row] of wanted.entries()) {
      if (rows.children[at] !== row) rows.insertBefore(row, rows.children[at] ?? null);
    }
  }

  function createRow({ id, symbol, side, kind, priceOpen, digits }: PendingOrder): HTMLElement {
    const label = `Trigger ${symbol}: move the market to ${formatPrice(priceOpen, digits)}`;
    const attributes = { type: 'button', class: 'quiet unrecorded', 'aria-label': label };
    const trigger = h('button', attributes, 'Trigger');
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
        h('span', { class: 'distance' }),
      ),
      trigger,
    );
  }

  app.client.account(draw);
  app.onUserChange(() => news.replaceChildren(...hint));
}
