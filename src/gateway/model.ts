/**
 * The gateway's answers as the rest of the program sees them: readonly, checked once, with the names
 * of the schema's fields, so that most fields are plain exposures.
 */

export type ShariaStatus = 'QUESTIONABLE' | 'COMPLIANT' | 'NONCOMPLIANT';
export type Side = 'BUY' | 'SELL';
export type OrderKind = 'LIMIT' | 'STOP';

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

/** Milliseconds since the epoch: plain numbers cost nothing where no client selects them. */
export type Moment = number;

/** The fields that an open position and a pending order share. */
interface Holding {
  readonly id: string;
  readonly symbol: string;
  readonly side: Side | null;
  readonly name: string | null;
  readonly logo: string | null;
  readonly delayed: boolean | null;
  readonly sharia: boolean | null;
  readonly digits: number | null;
  readonly units: number | null;
  readonly priceOpen: number | null;
  readonly priceCurrent: number | null;
  readonly createdAt: Moment | null;
  readonly updatedAt: Moment | null;
  readonly leverage: number | null;
  readonly rateMargin: number | null;
  readonly stopLoss: number | null;
  readonly takeProfit: number | null;
  readonly comment: string | null;
  readonly invested: number | null;
}

export interface Position extends Holding {
  readonly rateProfit: number | null;
  readonly storage: number | null;
  readonly profit: number | null;
}

export interface Order extends Holding {
  readonly kind: OrderKind | null;
  readonly state: number | null;
  readonly useMargin: boolean | null;
}

export interface AccountAccess {
  readonly id: string | null;
  readonly name: string | null;
  readonly currency: string | null;
  readonly currencyDigits: number | null;
  readonly isHedged: boolean | null;
  readonly noPl: boolean | null;
}

/** The positions of a snapshot: which they are, of what size, and their rows. */
export interface SnapshotPositions {
  readonly ids: readonly string[];
  /** In the order of the ids. */
  readonly units: readonly (number | null)[];
  /** Null in a snapshot that is cached: they are most of it, and seldom read. */
  readonly rows: readonly Position[] | null;
}

export interface Session {
  readonly login: string;
  readonly group: string | null;
  readonly server: string | null;
  readonly currency: string | null;
  readonly balance: number | null;
  readonly credit: number | null;
  readonly equity: number | null;
  readonly storage: number | null;
  readonly assets: number | null;
  readonly prevEquity: number | null;
  readonly prevBalance: number | null;
  readonly leverage: number | null;
  readonly invested: number | null;
  readonly profits: number | null;
  readonly kycStatus: string | null;
  readonly createdAt: Moment | null;
  readonly access: AccountAccess | null;
  /** Null where the snapshot has no such list; a list is never shortened. */
  readonly positions: SnapshotPositions | null;
  readonly orders: readonly Order[] | null;
}

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
