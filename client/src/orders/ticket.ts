import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderOutcome } from './outcome.ts';

export interface TicketOptions {
  /**
   * How long after it was first placed the order may still be sent, in milliseconds: repeats too. 5,000 by default for an
   * order at the market, whose price the user has seen; without end for one that waits for its price. From then on it is
   * only asked what became of an order that was sent.
   */
  readonly maxWaitMs?: number;
}

export interface PlaceOptions {
  /** How long an outcome is sought, in milliseconds; 30,000 by default. `maxWaitMs` bounds how long the order is sent. */
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
  /** Whether the key outlives the app, so that `resume` finds the order again: false where the storage refuses. */
  readonly isDurable: boolean;
  /**
   * Places an order at the market, or one that waits for `price`. Never rejects. Another input than one that may have
   * been sent already is refused, with the code `BAD_USER_INPUT`.
   */
  place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
  /** Places an order that always waits for its price, by the same rules. */
  placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
}
