import type { toOrder, toPosition } from './wire/holding.ts';
import type { toInstrument } from './wire/instrument.ts';
import type { toAccess, toSession } from './wire/session.ts';

/** The gateway's answers, checked once, with the names of the schema's fields, so that most are plain exposures. */

export type Instrument = Readonly<NonNullable<ReturnType<typeof toInstrument>>>;
export type ShariaStatus = NonNullable<Instrument['shariaStatus']>;

export type Position = Readonly<ReturnType<typeof toPosition>>;
export type Order = Readonly<ReturnType<typeof toOrder>>;
export type Side = NonNullable<Position['side']>;

export type AccountAccess = Readonly<NonNullable<ReturnType<typeof toAccess>>>;
export type Session = Readonly<NonNullable<ReturnType<typeof toSession>>>;

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

/** `sendBeforeMs`: by this machine's date; null: at any time. */
export type OrderCall = { readonly sendBeforeMs: number | null } & (
  | { readonly operation: 'openPosition'; readonly order: MarketOrder }
  | { readonly operation: 'placeLimitOrder'; readonly order: LimitOrder }
);
