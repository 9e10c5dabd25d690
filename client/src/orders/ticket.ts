import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderOutcome } from './outcome.ts';

export interface TicketOptions {
  /**
   * How long after it was first placed the order may still be sent, in milliseconds: repeats too. 5,000 by default for an
   * order at the market, whose price the user has seen; 23 hours at most, as for one that waits for its price. From then
   * on its key is closed, so that it was placed before or never is.
   */
  readonly maxWaitMs?: number;
}

export interface PlaceOptions {
  /**
   * How long an outcome is sought, in milliseconds; 60,000 by default. The order is sent in the first half at most, and
   * in `maxWaitMs`; the rest is for closing its key.
   */
  readonly withinMs?: number;
  /**
   * Called with each attempt of this placing, and what it is for. A placing that joins another, as a double tap does, is
   * told nothing.
   */
  readonly onProgress?: ((progress: OrderProgress) => void) | undefined;
}

/**
 * What is being done for an order. `sending`: it is on its way. `asking`: a request may have been lost, and it is sent
 * once more under its key, which asks what became of it. `closing`: its time is over, and its key is closed, unless it
 * was placed.
 */
export type OrderProgress = 'sending' | 'asking' | 'closing';

/**
 * The right to place one order. However often it is placed, by a double tap or again after a lost answer, it becomes
 * one order at most; two tickets are two orders, however alike. Make it with the form, and keep it until there is an
 * outcome.
 */
export interface Ticket {
  /** Another one after an order that is `unsent` because of its key, as `EXPIRED` and `VOIDED` are. */
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
