/** How much to trade: in units of the instrument, or in money, whose currency the gateway does not name. */
export type OrderSize =
  | { readonly units: number; readonly amount?: undefined }
  | { readonly amount: number; readonly units?: undefined };

/** When to close a position: at a price of the instrument, or at an amount of money. */
export type Protection =
  | { readonly price: number; readonly amount?: undefined }
  | { readonly amount: number; readonly price?: undefined };

interface AnyOrder {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly size: OrderSize;
  readonly stopLoss?: Protection | undefined;
  readonly takeProfit?: Protection | undefined;
  readonly comment?: string | null | undefined;
}

/** An order that is executed at once. */
export interface MarketOrder extends AnyOrder {
  readonly kind: 'MARKET';
  readonly price?: undefined;
}

/** An order that waits for `price`. */
export interface PendingOrderInput extends AnyOrder {
  readonly kind: 'PENDING';
  readonly price: number;
}

/**
 * An order of either kind. Without a `kind` it is refused, because an order that lost its price would buy at the market.
 * Its key is the ticket's.
 */
export type OrderInput = MarketOrder | PendingOrderInput;

/** An order that always waits for its price. Its key is the ticket's. */
export interface LimitOrderInput {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  /** The amount is in USD. */
  readonly amount: number;
  readonly price: number;
  readonly stopLoss?: number | undefined;
  readonly takeProfit?: number | undefined;
  readonly comment?: string | null | undefined;
}
