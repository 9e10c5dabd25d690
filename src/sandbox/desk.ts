import {
  type Account,
  figuresOf,
  investedIn,
  type OpenPosition,
  type PendingOrder,
  profitOf,
} from './account.ts';
import { findGroup } from './groups.ts';
import { type Listed, MODE_FULL } from './instruments.ts';
import { CALC_FOREX } from './kind-styles.ts';
import type { Ledger } from './ledger.ts';
import type { Market } from './market.ts';
import { cents, round } from './money.ts';
import type { OrderRequest } from './order-request.ts';
import { TEST_REJECT } from './test-instruments.ts';

export interface OrderRefusal {
  readonly err: string;
  readonly message: string;
}

export type Placed = { readonly orderId: string } | { readonly refusal: OrderRefusal };

/** Where orders become positions and positions close: the state table of the interface. */
export interface Desk {
  place(account: Account, request: OrderRequest, operation: OrderOperation): Placed;
  /** Books a position or an order that an account starts with. */
  hold(account: Account, holding: OpenPosition | PendingOrder): void;
  /** What the new prices set off: pending orders that execute, positions that close. */
  settle(changed: Iterable<number>): void;
  /** The instruments that anybody holds or waits for. */
  held(): Iterable<number>;
}

export type OrderOperation = 'openPosition' | 'placeLimitOrder';

export interface DeskOptions {
  readonly market: Market;
  readonly ledger: Ledger;
  readonly find: (symbol: string) => Listed | undefined;
  readonly isOpen: (listed: Listed) => boolean;
  readonly nowMs: () => number;
}

interface Interest {
  readonly account: Account;
  readonly id: string;
}

const FIRST_ORDER_ID = 900_000_001;

export function createDesk({ market, ledger, find, isOpen, nowMs }: DeskOptions): Desk {
  const interests = new Map<number, Set<Interest>>();
  let nextId = FIRST_ORDER_ID;

  function place(account: Account, request: OrderRequest, operation: OrderOperation): Placed {
    const { symbol, isBuy, price, comment } = request;
    const listed = find(symbol);
    const group = findGroup(account.user.group);
    if (!listed || !group || !listed.wire.access.includes(group.name)) {
      return refuse('UNKNOWN_SYMBOL', `${symbol.slice(0, 40)} is not traded in this group.`);
    }
    if (symbol === TEST_REJECT)
      return refuse('TEST_REJECT', 'This instrument refuses every order.');
    if (listed.wire.mode !== MODE_FULL || !isOpen(listed)) {
      return refuse('MARKET_CLOSED', `The market of ${symbol} is closed.`);
    }
    if (price === 0) return refuse('INVALID_PRICE', 'A trigger price must be above 0.');
    const marketPrice = market.price(listed.index);
    const priceOpen = price ?? marketPrice;
    const leverage = group.leverage[listed.kind];
    const rateMargin = round(market.rate(listed.wire.mCurrency), 6);
    const units = unitsOf(request, listed, priceOpen, rateMargin, leverage);
    const { min, max } = listed.wire;
    if (!isWholeSteps(units, listed) || units < min || units > max) {
      const { step } = listed.wire;
      return refuse('INVALID_VOLUME', `Units go from ${min} to ${max} in steps of ${step}.`);
    }
    const { sl, tp } = exits(request, listed, priceOpen, units, market);
    if (!exitsFit(isBuy, priceOpen, sl, tp)) {
      return refuse('INVALID_STOPS', 'Stop-loss or take-profit is on the wrong side of the price.');
    }
    const invested = investedIn(listed, units, priceOpen, rateMargin, leverage);
    if (invested > figuresOf(account, market).free) {
      return refuse('NOT_ENOUGH_MONEY', `This order takes ${invested} USD.`);
    }
    const orderId = String(nextId);
    nextId += 1;
    const createdAtMs = nowMs();
    const holding = { id: orderId, listed, isBuy, units, priceOpen, sl, tp, comment, createdAtMs };
    const terms = { ...holding, leverage, rateMargin, invested };
    // What is better than the market's price waits for it as a limit order, what is worse as a stop order.
    const isLimit = isBuy ? priceOpen < marketPrice : priceOpen > marketPrice;
    hold(account, price === null ? { ...terms, storage: 0 } : { ...terms, isLimit });
    ledger.record({
      atMs: createdAtMs,
      login: account.user.login,
      operation,
      became: price === null ? 'position' : 'pending',
      orderId,
      symbol,
      isBuy,
      units,
      price: priceOpen,
      comment,
    });
    return { orderId };
  }

  function hold(account: Account, holding: OpenPosition | PendingOrder): void {
    if ('isLimit' in holding) account.orders.set(holding.id, holding);
    else account.positions.set(holding.id, holding);
    account.revision += 1;
    const { index } = holding.listed;
    const interest = { account, id: holding.id };
    const known = interests.get(index);
    if (known === undefined) interests.set(index, new Set([interest]));
    else known.add(interest);
  }

  function settleOne(interest: Interest, price: number): void {
    const { account, id } = interest;
    const order = account.orders.get(id);
    if (order !== undefined && isReached(order, price)) execute(account, order, price);
    // In the same breath: a jump may pass the trigger and the stop-loss behind it at once.
    const position = account.positions.get(id);
    if (position !== undefined && isOver(position, price)) close(interest, position);
  }

  /** The position keeps the order's id, so that a client can follow one into the other. */
  function execute(account: Account, order: PendingOrder, price: number): void {
    const { isLimit: _, ...holding } = order;
    account.orders.delete(order.id);
    account.positions.set(order.id, {
      ...holding,
      priceOpen: price,
      createdAtMs: nowMs(),
      storage: 0,
    });
    account.revision += 1;
  }

  function close(interest: Interest, position: OpenPosition): void {
    const { account, id } = interest;
    account.balance = cents(account.balance + profitOf(position, market) + position.storage);
    account.positions.delete(id);
    account.revision += 1;
    const { index } = position.listed;
    const rest = interests.get(index);
    rest?.delete(interest);
    if (rest?.size === 0) interests.delete(index);
  }

  return {
    place,
    hold,
    settle(changed) {
      for (const index of changed) {
        const price = market.price(index);
        for (const interest of [...(interests.get(index) ?? [])]) settleOne(interest, price);
      }
    },
    held: () => interests.keys(),
  };
}

function refuse(err: string, message: string): Placed {
  return { refusal: { err, message } };
}

function unitsOf(
  { size }: OrderRequest,
  listed: Listed,
  price: number,
  rateMargin: number,
  leverage: number,
): number {
  if (size.by === 'units') return size.value;
  const { calc, step } = listed.wire;
  const perUnit = (calc === CALC_FOREX ? rateMargin : price * rateMargin) / leverage;
  // Rounded down: an order of 100 USD never ties up more than that.
  return round(Math.floor(size.value / perUnit / step + 1e-9) * step, 8);
}

function isWholeSteps(units: number, { wire: { step } }: Listed): boolean {
  const steps = units / step;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}

function exits(
  request: OrderRequest,
  { wire }: Listed,
  price: number,
  units: number,
  market: Market,
): { sl: number; tp: number } {
  const perUnit = units * market.rate(wire.pCurrency);
  const side = request.isBuy ? 1 : -1;
  // A loss larger than the price itself can never be reached: no level, that is 0.
  const at = (amount: number) => Math.max(0, round(price + (side * amount) / perUnit, wire.digits));
  return {
    sl: request.slAmount > 0 ? at(-request.slAmount) : request.sl,
    tp: request.tpAmount > 0 ? at(request.tpAmount) : request.tp,
  };
}

function exitsFit(isBuy: boolean, price: number, sl: number, tp: number): boolean {
  const slFits = sl === 0 || (isBuy ? sl < price : sl > price);
  const tpFits = tp === 0 || (isBuy ? tp > price : tp < price);
  return slFits && tpFits;
}

function isReached({ isBuy, isLimit, priceOpen }: PendingOrder, price: number): boolean {
  return isBuy === isLimit ? price <= priceOpen : price >= priceOpen;
}

function isOver({ isBuy, sl, tp }: OpenPosition, price: number): boolean {
  if (isBuy) return (sl > 0 && price <= sl) || (tp > 0 && price >= tp);
  return (sl > 0 && price >= sl) || (tp > 0 && price <= tp);
}
