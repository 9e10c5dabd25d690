import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderOutcome } from './outcome.ts';

export interface PlaceOptions {
  /** How long the order is sent again where that is safe, in milliseconds; 30,000 by default. */
  readonly withinMs?: number;
}

/**
 * The right to place one order. However often it is placed, by a double tap or again after a lost answer, it becomes
 * one order at most; two tickets are two orders, however alike. Make it with the form, and keep it until there is an
 * outcome.
 */
export interface Ticket {
  readonly idempotencyKey: string;
  /** The login that the order was placed for; null before, and again where nothing was sent. */
  readonly account: string | null;
  /** Whether the key outlives the app, so that `resume` finds the order again. */
  readonly isDurable: boolean;
  /**
   * Places an order at the market, or one that waits for `price`. Never rejects. Another input than one that may have
   * been sent already is refused, with the code `BAD_USER_INPUT`.
   */
  place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
  /** Places an order that always waits for its price, by the same rules. */
  placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
}
