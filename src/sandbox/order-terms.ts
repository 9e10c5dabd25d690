import { type Account, figuresOf, investedIn, type PendingOrder } from './account.ts';
import { findGroup } from './groups.ts';
import { CALC_FOREX, type Listed, MODE_FULL } from './instruments.ts';
import { TEST_REJECT } from './listings.ts';
import type { Market } from './market.ts';
import { round } from './money.ts';
import type { OrderRequest } from './order-request.ts';

export interface OrderRefusal {
  readonly error: string;
  readonly message: string;
}

/** The terms of an order at the current prices. */
interface OrderTerms {
  readonly kind: 'terms';
  readonly holding: Omit<PendingOrder, 'id' | 'createdAtMs' | 'comment' | 'isLimit'>;
  /** Null if the order executes immediately. */
  readonly isLimit: boolean | null;
}

type Refused = { readonly kind: 'refused'; readonly refusal: OrderRefusal };

const MAX_SHOWN_SYMBOL = 40;
/** Binary rounding changes a quotient of whole steps by less than this. */
const STEP_TOLERANCE = 1e-9;

/** Checks the rules of the trading desk one after the other. The first broken rule refuses the order. */
export function termsOf(
  account: Account,
  request: OrderRequest,
  listed: Listed | undefined,
  market: Market,
): OrderTerms | Refused {
  const { symbol, isBuy, price } = request;
  const group = findGroup(account.user.group);
  if (!listed || !group || !listed.instrument.access.includes(group.name)) {
    return refuse(
      'UNKNOWN_SYMBOL',
      `${symbol.slice(0, MAX_SHOWN_SYMBOL)} is not traded in this group.`,
    );
  }
  if (symbol === TEST_REJECT) return refuse('TEST_REJECT', 'This instrument refuses every order.');
  if (listed.instrument.mode !== MODE_FULL) {
    return refuse('MARKET_CLOSED', `The market of ${symbol} is closed.`);
  }
  if (price === 0) return refuse('INVALID_PRICE', 'A trigger price must be above 0.');
  const marketPrice = market.price(listed.index);
  const priceOpen = price ?? marketPrice;
  const leverage = group.leverage[listed.kind];
  const rateMargin = round(market.rate(listed.instrument.mCurrency), 6);
  const units = unitsOf(request, listed, priceOpen, rateMargin, leverage);
  const { min, max, step } = listed.instrument;
  if (!isWholeSteps(units, step) || units < min || units > max) {
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
  // A price better than the market's makes a limit order, a worse one a stop order.
  const isBetter = isBuy ? priceOpen < marketPrice : priceOpen > marketPrice;
  return {
    kind: 'terms',
    holding: { listed, isBuy, units, priceOpen, sl, tp, leverage, rateMargin, invested },
    isLimit: price === null ? null : isBetter,
  };
}

function refuse(error: string, message: string): Refused {
  return { kind: 'refused', refusal: { error, message } };
}

function unitsOf(
  { size }: OrderRequest,
  listed: Listed,
  price: number,
  rateMargin: number,
  leverage: number,
): number {
  if (size.by === 'units') return size.value;
  const { calc, step } = listed.instrument;
  const perUnit = (calc === CALC_FOREX ? rateMargin : price * rateMargin) / leverage;
  // Rounds down, so that an order of 100 USD never ties up more than 100 USD.
  const steps = Math.floor(size.value / perUnit / step + STEP_TOLERANCE);
  return round(steps * step, 8);
}

/** Binary rounding of the quotient is tolerated. */
function isWholeSteps(units: number, step: number): boolean {
  const steps = units / step;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}

/** The prices at which the position will close. An amount is converted to the price at which it is lost or won. */
function exits(
  request: OrderRequest,
  { instrument }: Listed,
  price: number,
  units: number,
  market: Market,
): { sl: number; tp: number } {
  const profitPerPrice = units * market.rate(instrument.pCurrency);
  const direction = request.isBuy ? 1 : -1;
  const priceAt = (profit: number) => {
    const exit = round(price + (direction * profit) / profitPerPrice, instrument.digits);
    // A loss that no price above 0 causes has no level, which is written as 0.
    return Math.max(0, exit);
  };
  return {
    sl: request.slAmount > 0 ? priceAt(-request.slAmount) : request.sl,
    tp: request.tpAmount > 0 ? priceAt(request.tpAmount) : request.tp,
  };
}

function exitsFit(isBuy: boolean, price: number, sl: number, tp: number): boolean {
  const slFits = sl === 0 || (isBuy ? sl < price : sl > price);
  const tpFits = tp === 0 || (isBuy ? tp > price : tp < price);
  return slFits && tpFits;
}
