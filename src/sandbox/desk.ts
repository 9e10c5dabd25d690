import { type Account, type OpenPosition, type PendingOrder, profitOf } from './account.ts';
import type { Listed } from './instruments.ts';
import type { Ledger } from './ledger.ts';
import type { Market } from './market.ts';
import { cents } from './money.ts';
import type { OrderRequest } from './order-request.ts';
import { type OrderRefusal, termsOf } from './order-terms.ts';

export type DeskAnswer =
  | { readonly kind: 'placed'; readonly orderId: string }
  | { readonly kind: 'refused'; readonly refusal: OrderRefusal };

interface DeskOptions {
  readonly market: Market;
  readonly ledger: Ledger;
  readonly find: (symbol: string) => Listed | undefined;
  readonly nowMs: () => number;
  readonly nextOrderId: () => number;
}

/** A position or pending order of an account. */
interface HoldingRef {
  readonly account: Account;
  readonly id: string;
}

/** Places and executes orders, and closes positions. */
export class Desk {
  readonly #options: DeskOptions;
  /** All positions and pending orders, by the index of their instrument. */
  readonly #holdings = new Map<number, Set<HoldingRef>>();

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  place(account: Account, request: OrderRequest): DeskAnswer {
    const { market, ledger, find, nowMs, nextOrderId } = this.#options;
    const terms = termsOf(account, request, find(request.symbol), market);
    if (terms.kind === 'refused') return terms;
    const orderId = String(nextOrderId());
    const { symbol, comment } = request;
    const holding = { id: orderId, createdAtMs: nowMs(), comment, ...terms.holding };
    const { isLimit } = terms;
    this.hold(account, isLimit === null ? { ...holding, storage: 0 } : { ...holding, isLimit });
    ledger.record({ login: account.user.login, orderId, symbol, comment });
    return { kind: 'placed', orderId };
  }

  /** Adds a position or order to an account. */
  hold(account: Account, holding: OpenPosition | PendingOrder): void {
    if ('isLimit' in holding) account.orders.set(holding.id, holding);
    else account.positions.set(holding.id, holding);
    const { index } = holding.listed;
    const ref = { account, id: holding.id };
    const known = this.#holdings.get(index);
    if (known === undefined) this.#holdings.set(index, new Set([ref]));
    else known.add(ref);
  }

  /** Applies the new prices of instruments: executes the orders and closes the positions whose price is reached. */
  settle(changed: Iterable<number>): void {
    for (const index of changed) {
      const price = this.#options.market.price(index);
      for (const ref of [...(this.#holdings.get(index) ?? [])]) this.#settleOne(ref, price);
    }
  }

  /** The indexes of the instruments with open positions or pending orders. */
  heldInstruments(): Iterable<number> {
    return this.#holdings.keys();
  }

  #settleOne(ref: HoldingRef, price: number): void {
    const { account, id } = ref;
    const order = account.orders.get(id);
    if (order !== undefined && isTriggered(order, price)) this.#execute(account, order, price);
    // The new position is checked too, because one jump of the price may pass both the trigger and the stop-loss.
    const position = account.positions.get(id);
    if (position !== undefined && reachesExit(position, price)) this.#close(ref, position);
  }

  /** The position keeps the order's id, so that a client can match the two. */
  #execute(account: Account, order: PendingOrder, price: number): void {
    const { isLimit: _, ...holding } = order;
    const createdAtMs = this.#options.nowMs();
    account.orders.delete(order.id);
    account.positions.set(order.id, { ...holding, priceOpen: price, createdAtMs, storage: 0 });
  }

  #close(ref: HoldingRef, position: OpenPosition): void {
    const { account, id } = ref;
    const profit = profitOf(position, this.#options.market);
    account.balance = cents(account.balance + profit + position.storage);
    account.positions.delete(id);
    const { index } = position.listed;
    const rest = this.#holdings.get(index);
    rest?.delete(ref);
    if (rest?.size === 0) this.#holdings.delete(index);
  }
}

/** A buy limit and a sell stop wait for a lower price, a sell limit and a buy stop for a higher one. */
function isTriggered({ isBuy, isLimit, priceOpen }: PendingOrder, price: number): boolean {
  return isBuy === isLimit ? price <= priceOpen : price >= priceOpen;
}

/** Whether the price reaches the stop-loss or the take-profit. A level of 0 means that there is none. */
function reachesExit({ isBuy, sl, tp }: OpenPosition, price: number): boolean {
  if (isBuy) return (sl > 0 && price <= sl) || (tp > 0 && price >= tp);
  return (sl > 0 && price >= sl) || (tp > 0 && price <= tp);
}
