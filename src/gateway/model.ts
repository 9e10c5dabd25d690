import type { toOrder, toPosition } from './wire/holding.ts';
import type { toAccess, toSession } from './wire/session.ts';

/**
 * The gateway's answers as the rest of the program sees them: readonly, checked once, with the names
 * of the schema's fields, so that most fields are plain exposures.
 */

export type ShariaStatus = 'QUESTIONABLE' | 'COMPLIANT' | 'NONCOMPLIANT';

export interface TradingHours {
  readonly timezone: string;
  readonly regular: readonly string[];
  readonly preMarket: readonly string[];
  readonly postMarket: readonly string[];
  readonly overnight: readonly string[];
  readonly otherExtended: readonly string[];
}

export interface Swap {
  readonly long: number;
  readonly short: number;
  readonly mode: number;
  readonly tick: number;
}

export interface Instrument {
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly description: string;
  readonly logo: string;
  readonly delayed: boolean;
  readonly sharia: boolean;
  /** Null where the gateway has a word for it that is not known here. */
  readonly shariaStatus: ShariaStatus | null;
  readonly leverage: number;
  readonly pdt: boolean;
  readonly digits: number;
  readonly session: readonly string[];
  readonly quotes: readonly string[];
  readonly tradingHours: TradingHours | null;
  readonly sector: number;
  readonly industry: number;
  readonly mode: number;
  readonly calc: number;
  readonly swap: Swap | null;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly limit: number;
  readonly mCurrency: string;
  readonly pCurrency: string;
  readonly mFx: string | null;
  readonly pFx: string | null;
  readonly access: readonly string[];
}

export type Position = Readonly<ReturnType<typeof toPosition>>;
export type Order = Readonly<ReturnType<typeof toOrder>>;
export type Side = NonNullable<Position['side']>;

export type AccountAccess = Readonly<NonNullable<ReturnType<typeof toAccess>>>;
export type Session = Readonly<NonNullable<ReturnType<typeof toSession>>>;

export interface WithdrawalMethod {
  readonly id: string | null;
  /** Index of the inner array it came in: the interface nests the list without saying why. */
  readonly group: number;
  readonly title: string | null;
  readonly icon: string | null;
  readonly type: string | null;
  readonly crmType: string | null;
  readonly status: string | null;
  readonly subtitle: string | null;
}

/** The request of op 4: a market order, or a pending one where a `price` is given. */
export interface MarketOrder {
  readonly symbol: string;
  readonly side: Side;
  readonly size: { readonly by: 'units' | 'amount'; readonly value: number };
  readonly price: number | null;
  readonly stopLoss: Protection | null;
  readonly takeProfit: Protection | null;
  readonly comment: string | null;
}

export interface Protection {
  readonly by: 'price' | 'amount';
  readonly value: number;
}

/** The request of op 5; `amount` is in USD, the account's currency. */
export interface LimitOrder {
  readonly symbol: string;
  readonly side: Side;
  readonly amount: number;
  readonly price: number;
  readonly stopLoss: number | null;
  readonly takeProfit: number | null;
  readonly comment: string | null;
}
