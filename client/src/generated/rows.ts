// Written by `npm run docs` from the code of the server.

/** The direction of a trade. */
export type Side = 'BUY' | 'SELL';

/** An open position. With every plain field of the schema; one that the gateway left out is null. */
export interface Position {
  /** The note that was saved with it. */
  readonly comment: string | null;
  /** When the position was made. */
  readonly createdAt: string | null;
  /** Whether its prices are delayed. */
  readonly delayed: boolean | null;
  /** Decimals of its prices. */
  readonly digits: number | null;
  /** The gateway’s number of the position. */
  readonly id: string;
  /** The invested money. */
  readonly invested: number | null;
  /** Its leverage. */
  readonly leverage: number | null;
  /** The address of the instrument’s logo. */
  readonly logo: string | null;
  /** The display name of the instrument. */
  readonly name: string | null;
  /** The price now. */
  readonly priceCurrent: number | null;
  /** The price at which it was opened. */
  readonly priceOpen: number | null;
  /** Its profit or loss now. */
  readonly profit: number | null;
  /** The rate that converts its margin into the account’s currency. */
  readonly rateMargin: number | null;
  /** The rate that converts its profit into the account’s currency. */
  readonly rateProfit: number | null;
  /** Whether the instrument counts as sharia-compliant. */
  readonly sharia: boolean | null;
  /** Bought or sold. */
  readonly side: Side | null;
  /** The price at which it closes to stop a loss. A 0 of the gateway is passed on. */
  readonly stopLoss: number | null;
  /** The cost or gain of holding the position overnight. */
  readonly storage: number | null;
  /** The symbol of the instrument that is traded. */
  readonly symbol: string;
  /** The price at which it closes to take a profit. A 0 of the gateway is passed on. */
  readonly takeProfit: number | null;
  /** Its size in units of the instrument. */
  readonly units: number | null;
  /** When the position last changed. */
  readonly updatedAt: string | null;
}

export const POSITION_FIELDS =
  'comment createdAt delayed digits id invested leverage logo name priceCurrent priceOpen profit rateMargin rateProfit sharia side stopLoss storage symbol takeProfit units updatedAt';

export const TICK_FIELDS = 'id priceCurrent profit rateProfit updatedAt';

/** A pending order. With every plain field of the schema; one that the gateway left out is null. */
export interface PendingOrder {
  /** The note that was saved with it. */
  readonly comment: string | null;
  /** When the order was made. */
  readonly createdAt: string | null;
  /** Whether its prices are delayed. */
  readonly delayed: boolean | null;
  /** Decimals of its prices. */
  readonly digits: number | null;
  /** The gateway’s number of the order. */
  readonly id: string;
  /** The invested money. */
  readonly invested: number | null;
  /** Limit or stop. An order that the gateway does not call a limit order counts as a stop. */
  readonly kind: 'LIMIT' | 'STOP' | null;
  /** Its leverage. */
  readonly leverage: number | null;
  /** The address of the instrument’s logo. */
  readonly logo: string | null;
  /** The display name of the instrument. */
  readonly name: string | null;
  /** The price when the orders were read, up to a minute ago. */
  readonly priceCurrent: number | null;
  /** The price that it waits for. */
  readonly priceOpen: number | null;
  /** The rate that converts its margin into the account’s currency. */
  readonly rateMargin: number | null;
  /** Whether the instrument counts as sharia-compliant. */
  readonly sharia: boolean | null;
  /** Bought or sold. */
  readonly side: Side | null;
  /** The gateway’s code of its state. */
  readonly state: number | null;
  /** The price at which it closes to stop a loss. A 0 of the gateway is passed on. */
  readonly stopLoss: number | null;
  /** The symbol of the instrument that is traded. */
  readonly symbol: string;
  /** The price at which it closes to take a profit. A 0 of the gateway is passed on. */
  readonly takeProfit: number | null;
  /** Its size in units of the instrument. */
  readonly units: number | null;
  /** When the order last changed. */
  readonly updatedAt: string | null;
  /** Whether it is carried out on margin. */
  readonly useMargin: boolean | null;
}

export const ORDER_FIELDS =
  'comment createdAt delayed digits id invested kind leverage logo name priceCurrent priceOpen rateMargin sharia side state stopLoss symbol takeProfit units updatedAt useMargin';

/** An instrument of the catalog. With every plain field of the schema; one that the gateway left out is null. */
export interface Instrument {
  /** The gateway’s words for who may trade the instrument. */
  readonly access: readonly string[];
  /** The gateway’s code for the calculation of its margin. */
  readonly calc: number;
  /** Whether its prices are delayed. */
  readonly delayed: boolean;
  /** A sentence about the instrument. */
  readonly description: string;
  /** Decimals of its prices. */
  readonly digits: number;
  /** The gateway’s identifier. */
  readonly id: string;
  /** The gateway’s code of its industry. */
  readonly industry: number;
  /** The leverage for the viewer’s group. */
  readonly leverage: number;
  /** The maximum that may be held. */
  readonly limit: number;
  /** The address of its logo. */
  readonly logo: string;
  /** The currency of its margin. */
  readonly mCurrency: string;
  /** The symbol that converts its margin; null if none is needed. */
  readonly mFx: string | null;
  /** Largest size of an order. */
  readonly max: number;
  /** Smallest size of an order. */
  readonly min: number;
  /** The gateway’s code of its trade mode. */
  readonly mode: number;
  /** The display name. */
  readonly name: string;
  /** The currency of its profit. */
  readonly pCurrency: string;
  /** The symbol that converts its profit; null if none is needed. */
  readonly pFx: string | null;
  /** Whether day-trading rules apply to it. */
  readonly pdt: boolean;
  /** Its quote sessions, in the gateway’s words. */
  readonly quotes: readonly string[];
  /** The gateway’s code of its sector. */
  readonly sector: number;
  /** Its trading sessions, in the gateway’s words. */
  readonly session: readonly string[];
  /** Whether it counts as sharia-compliant. */
  readonly sharia: boolean;
  /** Its sharia compliance in detail. Null if the gateway’s value is not in this schema yet. */
  readonly shariaStatus: 'COMPLIANT' | 'NONCOMPLIANT' | 'QUESTIONABLE' | null;
  /** Step of an order’s size. */
  readonly step: number;
  /** The name by which positions and orders refer to the instrument; the same as `id`. */
  readonly symbol: string;
}
