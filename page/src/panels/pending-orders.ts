import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { PENDING_ORDERS, type PendingOrder } from '../documents.ts';
import { find, h, onClick, setText } from '../dom.ts';
import { formatPrice, plural } from '../format.ts';
import { sandbox } from '../sandbox.ts';

const EVERY_MS = 3_000;
/** So near that a moving market reaches it within a minute or so. */
const NEAR = 0.9995;
const AMOUNT = 200;

/** The orders that wait for a price; one that is reached becomes a position of the same id. */
export function startPendingOrders(app: App): void {
  const rows = find('pending-rows', HTMLElement);
  let known = new Map<string, PendingOrder>();
  /** Orders that are pending no more, until the live list brings their positions. */
  let gone = new Map<string, PendingOrder>();
  let isOutdated = false;
  let reading: Promise<void> | null = null;

  /** One after the other: positions change faster than a slow line answers, and nothing would ever be shown. */
  function read(): Promise<void> {
    isOutdated = true;
    reading ??= readUntilCurrent().finally(() => {
      reading = null;
    });
    return reading;
  }

  async function readUntilCurrent(): Promise<void> {
    while (isOutdated) {
      isOutdated = false;
      const before = known;
      const { data } = await app.client.query(PENDING_ORDERS);
      // Else another user has signed in meanwhile.
      if (known === before && data?.orders) show(data.orders);
    }
  }

  function show(orders: readonly PendingOrder[]): void {
    const now = new Map(orders.map((order) => [order.id, order]));
    for (const [id, order] of known) if (!now.has(id)) gone.set(id, order);
    known = now;
    draw(orders);
    announceTriggered();
  }

  function announceTriggered(): void {
    const news = app.client.positions
      .state()
      .positions.filter(({ id }) => gone.delete(id))
      .map(({ symbol }) => `${symbol}: the order has become a position.`);
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
      await read();
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
    await read();
  }

  onClick(find('pending-add', HTMLButtonElement), add);
  app.client.positions(({ positions }) => {
    announceTriggered();
    if (positions.some(({ id }) => known.has(id))) void read();
  });
  app.onUserChange(() => {
    known = new Map();
    gone = new Map();
    void read();
  });
  const next = async () => {
    if (document.visibilityState === 'visible') await read();
    setTimeout(next, EVERY_MS);
  };
  void next();
}
