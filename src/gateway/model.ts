import type { Instrument } from './operations/get-all-tickers.ts';
import type { Session } from './operations/get-session.ts';
import type { Position } from './operations/holdings.ts';
import type { MarketOrder } from './operations/open-position.ts';
import type { LimitOrder } from './operations/place-limit-order.ts';

/** The parts of the gateway's answers that have no file of their own, and what orders are asked with. */

export type ShariaStatus = NonNullable<Instrument['shariaStatus']>;
export type TradingHours = NonNullable<Instrument['tradingHours']>;
export type Swap = NonNullable<Instrument['swap']>;
export type AccountAccess = NonNullable<Session['access']>;
export type Side = NonNullable<Position['side']>;

/** `sendBeforeMs`: by this machine's date; null: at any time. */
export type OrderCall = { readonly sendBeforeMs: number | null } & (
  | { readonly operation: 'openPosition'; readonly order: MarketOrder }
  | { readonly operation: 'placeLimitOrder'; readonly order: LimitOrder }
);
