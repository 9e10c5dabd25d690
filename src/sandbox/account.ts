import type { SentMethod } from '../gateway/operations/get-withdrawal-methods.ts';
import { CALC_FOREX, type Listed } from './instruments.ts';
import type { Quotes } from './market.ts';
import { cents } from './money.ts';
import type { SandboxUser } from './users.ts';

/** The common part of open positions and pending orders; `priceOpen` of a pending order is its trigger. */
interface Holding {
  readonly id: string;
  readonly listed: Listed;
  readonly isBuy: boolean;
  readonly units: number;
  readonly priceOpen: number;
  /** 0 without a stop-loss. */
  readonly sl: number;
  readonly tp: number;
  readonly comment: string;
  readonly createdAtMs: number;
  readonly leverage: number;
  readonly rateMargin: number;
  /** The money that the holding ties up, in US dollars rounded to cents. */
  readonly invested: number;
}

export interface OpenPosition extends Holding {
  readonly storage: number;
}

export interface PendingOrder extends Holding {
  readonly isLimit: boolean;
}

export interface Account {
  readonly user: SandboxUser;
  readonly positions: Map<string, OpenPosition>;
  readonly orders: Map<string, PendingOrder>;
  readonly methods: SentMethod[];
  balance: number;
  prevBalance: number;
  prevEquity: number;
}

export interface Figures {
  readonly invested: number;
  readonly profits: number;
  readonly storage: number;
  /** balance + credit + profits + storage. */
  readonly equity: number;
  /** The money that a new order may tie up: equity less what positions and pending orders tie up already. */
  readonly free: number;
}

/** Computes the account's figures at the given prices. */
export function figuresOf(account: Account, quotes: Quotes): Figures {
  let invested = 0;
  let profits = 0;
  let storage = 0;
  let reserved = 0;
  for (const position of account.positions.values()) {
    invested += position.invested;
    profits += profitOf(position, quotes);
    storage += position.storage;
  }
  for (const order of account.orders.values()) reserved += order.invested;
  const equity = cents(account.balance + account.user.credit + profits + storage);
  return {
    invested: cents(invested),
    profits: cents(profits),
    storage: cents(storage),
    equity,
    free: cents(equity - invested - reserved),
  };
}

export function profitOf(
  { listed, isBuy, units, priceOpen }: OpenPosition,
  quotes: Quotes,
): number {
  const change = quotes.price(listed.index) - priceOpen;
  return cents((isBuy ? change : -change) * units * quotes.rate(listed.instrument.pCurrency));
}

/** Computes the US dollars that `units` tie up when opened at `price`. */
export function investedIn(
  listed: Listed,
  units: number,
  price: number,
  rateMargin: number,
  leverage: number,
): number {
  const value = listed.instrument.calc === CALC_FOREX ? units : units * price;
  return cents((value * rateMargin) / leverage);
}
