import type { Chance } from './chance.ts';
import type { LedgerBook, Page } from './ledger-book.ts';
import type { OrderClient, SendOptions } from './order-client.ts';
import type { OrderRequest } from './order-request.ts';
import type { Account, Weather } from './weather.ts';

export interface Trader {
  readonly account: Account;
  /** Several devices at several replicas; each has a token of its own. Empty while none of them serves. */
  clients(): readonly OrderClient[];
}

export interface TrafficOptions {
  readonly chance: Chance;
  readonly book: LedgerBook;
  readonly weather: Weather;
}

const SYMBOLS = [
  ...['AAPL', 'MSFT', 'NVDA', 'EURUSD', 'AAPL', 'MSFT', 'NVDA', 'EURUSD', 'AAPL', 'MSFT'],
  ...['TEST.REJECT', 'TEST.UNKNOWN', 'TEST.SLOW', 'TEST.EMPTY', 'NO.SUCH'],
];

/** Clients as they are: impatient, forgetful, on two transports at once, and sometimes wrong. */
export class Traffic {
  readonly #options: TrafficOptions;

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  async step(trader: Trader): Promise<void> {
    const { chance, book, weather } = this.#options;
    const pages = book.of(trader.account.login);
    if (chance.happens(0.3)) weather.brew(trader.account);
    if (pages.length === 0 || chance.happens(0.55)) return this.#placeNew(trader, pages.length);
    const page = chance.pick(pages);
    if (chance.happens(0.25)) return this.#ask(trader, page);
    const other = chance.happens(0.2);
    return this.#place(trader, page, other ? this.#other(page.request) : restated(page.request));
  }

  async #placeNew(trader: Trader, count: number): Promise<void> {
    const { chance, book } = this.#options;
    const page = book.open(trader.account.login, this.#request(`order ${count}`));
    const all = [this.#place(trader, page, page.request)];
    if (chance.happens(0.2)) {
      for (let more = chance.below(4); more >= 0; more -= 1) {
        const isOther = chance.happens(0.1);
        const request = isOther ? this.#other(page.request) : restated(page.request);
        all.push(
          chance.happens(0.2) ? this.#ask(trader, page) : this.#place(trader, page, request),
        );
      }
    }
    await Promise.all(all);
  }

  #place(trader: Trader, page: Page, request: OrderRequest): Promise<void> {
    const client = this.#options.chance.pick(trader.clients());
    const options = this.#manner();
    return this.#options.book.note(page, request, () => client.place(request, options));
  }

  #ask(trader: Trader, page: Page): Promise<void> {
    const client = this.#options.chance.pick(trader.clients());
    const options = this.#manner();
    return this.#options.book.note(page, null, () => client.placed(page.key, options));
  }

  #manner(): SendOptions {
    const { chance } = this.#options;
    return {
      transport: chance.happens(0.5) ? 'http' : 'socket',
      ...(chance.happens(0.08) && { leavesAfterMs: chance.below(40) }),
    };
  }

  #request(key: string): OrderRequest {
    const { chance } = this.#options;
    const common = {
      symbol: chance.pick(SYMBOLS),
      side: chance.happens(0.5) ? 'BUY' : 'SELL',
      comment: key,
      idempotencyKey: key,
    };
    if (chance.happens(0.4)) {
      const input = { ...common, amount: 20 + chance.below(20), price: 1 + chance.below(300) };
      return { mutation: 'placeLimitOrder', input };
    }
    const size = chance.happens(0.5) ? { units: 1 } : { amount: 30 + chance.below(30) };
    return { mutation: 'placeOrder', input: { ...common, size } };
  }

  #other(request: OrderRequest): OrderRequest {
    const key = request.input.idempotencyKey;
    for (;;) {
      const other = this.#request(key);
      // Compared by what is sent: the same once more would be no other order.
      if (JSON.stringify(other) !== JSON.stringify(request)) return other;
    }
  }
}

/** The same order in other words. */
function restated({ mutation, input }: OrderRequest): OrderRequest {
  const reversed = Object.fromEntries(Object.entries(input).reverse()) as OrderRequest['input'];
  return { mutation, input: { ...reversed, stopLoss: null, takeProfit: null } };
}
