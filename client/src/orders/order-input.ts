/** How much to trade: in units of the instrument, or in money of the account's currency. */
export type OrderSize =
  | { readonly units: number; readonly amount?: null }
  | { readonly amount: number; readonly units?: null };

/** Where to close a position: at a price of the instrument, or at an amount of money. */
export type Protection =
  | { readonly price: number; readonly amount?: null }
  | { readonly amount: number; readonly price?: null };

/** An order at the market, or one that waits for `price`. Its key is the ticket's. */
export interface OrderInput {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly size: OrderSize;
  /** Left out, the order is executed at once. */
  readonly price?: number | null;
  readonly stopLoss?: Protection | null;
  readonly takeProfit?: Protection | null;
  readonly comment?: string | null;
}

/** An order that always waits for its price. Its key is the ticket's. */
export interface LimitOrderInput {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  /** In USD. */
  readonly amount: number;
  readonly price: number;
  readonly stopLoss?: number | null;
  readonly takeProfit?: number | null;
  readonly comment?: string | null;
}
