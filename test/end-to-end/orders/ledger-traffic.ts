import { setTimeout as delay } from 'node:timers/promises';
import type { Account, FaultInjector } from './fault-injector.ts';
import type { LedgerBook, Page } from './ledger-book.ts';
import type { OrderClient, SendOptions } from './order-client.ts';
import { type OrderRequest, TOO_LATE_MS, within } from './order-request.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface Trader {
  readonly account: Account;
  /** Several devices at several replicas, each with a token of its own. */
  clients(): readonly OrderClient[];
}

export interface TrafficOptions {
  readonly random: SeededRandom;
  readonly book: LedgerBook;
  readonly faults: FaultInjector;
}

const MAX_LIMIT_MS = 400;
const SYMBOLS = [
  ...['AAPL', 'MSFT', 'NVDA', 'EURUSD', 'AAPL', 'MSFT', 'NVDA', 'EURUSD', 'AAPL', 'MSFT'],
  ...['TEST.REJECT', 'TEST.UNKNOWN', 'TEST.SLOW', 'TEST.EMPTY', 'NO.SUCH'],
];

/** Random client behaviour: timeouts, repeats, two transports concurrently, and reused keys. */
export class Traffic {
  readonly #options: TrafficOptions;

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  async step(trader: Trader): Promise<void> {
    const { random, book, faults } = this.#options;
    const pages = book.of(trader.account.login);
    if (random.happens(0.3)) faults.injectNext(trader.account);
    if (pages.length === 0 || random.happens(0.55)) return this.#placeNew(trader, pages.length);
    return this.#comeAgain(trader, random.pick(pages));
  }

  async #placeNew(trader: Trader, count: number): Promise<void> {
    const { random, book } = this.#options;
    const page = book.open(trader.account.login, this.#request(`order ${count}`));
    const all = [this.#place(trader, page, page.request)];
    if (random.happens(0.2)) {
      for (let more = random.below(4); more >= 0; more -= 1)
        all.push(this.#comeAgain(trader, page));
    }
    await Promise.all(all);
  }

  #comeAgain(trader: Trader, page: Page): Promise<void> {
    const { random } = this.#options;
    if (random.happens(0.25)) return this.#ask(trader, page);
    if (random.happens(0.12)) return this.#void(trader, page);
    const other = random.happens(0.2);
    return this.#place(trader, page, other ? this.#other(page.request) : restated(page.request));
  }

  #place(trader: Trader, page: Page, request: OrderRequest): Promise<void> {
    const client = this.#options.random.pick(trader.clients());
    const options = this.#manner();
    const limited = this.#limited(request);
    return this.#options.book.note(page, limited, () => client.place(limited, options));
  }

  /** Half of them without an end, a few too late already, the others for as long as an order takes here. */
  #limited({ mutation, input }: OrderRequest): OrderRequest {
    const { random } = this.#options;
    if (random.happens(0.5)) return { mutation, input };
    const inMs = random.happens(0.1) ? TOO_LATE_MS : random.below(MAX_LIMIT_MS);
    return within({ mutation, input }, inMs);
  }

  #void(trader: Trader, page: Page): Promise<void> {
    const client = this.#options.random.pick(trader.clients());
    const options = { ...this.#manner(), since: page.since };
    return this.#options.book.note(page, null, () => client.void(page.key, options), true);
  }

  #ask(trader: Trader, page: Page): Promise<void> {
    const client = this.#options.random.pick(trader.clients());
    const options = this.#manner();
    return this.#options.book.note(page, null, () => client.placed(page.key, options));
  }

  #manner(): SendOptions {
    const { random } = this.#options;
    return {
      transport: random.happens(0.5) ? 'http' : 'socket',
      ...(random.happens(0.08) && { disconnectsAfter: delay(random.below(40)) }),
    };
  }

  #request(key: string): OrderRequest {
    const { random } = this.#options;
    const common = {
      symbol: random.pick(SYMBOLS),
      side: random.happens(0.5) ? 'BUY' : 'SELL',
      comment: key,
      idempotencyKey: key,
    };
    if (random.happens(0.4)) {
      const input = { ...common, amount: 20 + random.below(20), price: 1 + random.below(300) };
      return { mutation: 'placeLimitOrder', input };
    }
    const size = random.happens(0.5) ? { units: 1 } : { amount: 30 + random.below(30) };
    return { mutation: 'placeOrder', input: { ...common, size } };
  }

  #other(request: OrderRequest): OrderRequest {
    const other = this.#request(request.input.idempotencyKey);
    // Compared as sent: an equal request would be no other order.
    if (JSON.stringify(other) !== JSON.stringify(request)) return other;
    const side = request.input.side === 'BUY' ? 'SELL' : 'BUY';
    return { ...other, input: { ...other.input, side } };
  }
}

/** The same order with its input written differently. */
function restated({ mutation, input }: OrderRequest): OrderRequest {
  const reversed = Object.fromEntries(Object.entries(input).reverse()) as OrderRequest['input'];
  if (mutation === 'placeLimitOrder') return { mutation, input: reversed };
  const kind = input.price === undefined ? 'MARKET' : 'PENDING';
  return { mutation, input: { ...reversed, kind } };
}
