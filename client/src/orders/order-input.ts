/** How much to trade: in units of the instrument, or in money, whose currency the gateway does not say. */
export type OrderSize =
  | { readonly units: number; readonly amount?: undefined }
  | { readonly amount: number; readonly units?: undefined };

/** Where to close a position: at a price of the instrument, or at an amount of money. */
export type Protection =
  | { readonly price: number; readonly amount?: undefined }
  | { readonly amount: number; readonly price?: undefined };

/** An order at the market, or one that waits for `price`. Its key is the ticket's. */
export interface OrderInput {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly size: OrderSize;
  /** With it a price that is missing, or given against it, is refused. Left out, the price decides. */
  readonly kind?: 'MARKET' | 'PENDING' | null | undefined;
  /** Left out, the order is executed at once. */
  readonly price?: number | undefined;
  readonly stopLoss?: Protection | undefined;
  readonly takeProfit?: Protection | undefined;
  readonly comment?: string | null | undefined;
}

/** An order that always waits for its price. Its key is the ticket's. */
export interface LimitOrderInput {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  /** In USD. */
  readonly amount: number;
  readonly price: number;
  readonly stopLoss?: number | undefined;
  readonly takeProfit?: number | undefined;
  readonly comment?: string | null | undefined;
}
