import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderOutcome } from './outcome.ts';

/** The options of a ticket. */
export interface TicketOptions {
  /**
   * How long after it was first placed the order may still be sent or repeated, in milliseconds. 5,000 by default for an
   * order at the market, whose price the user has seen; 23 hours for one that waits for its price, which is the most. After
   * that its key is closed: unless it has been placed by then, it never will be.
   */
  readonly maxWaitMs?: number;
}

/** The options of placing an order. */
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
 * The step an order is in. `sending`: its first request is on its way. `asking`: that request may have been lost, so it
 * is repeated under the same key, which also tells what became of it. `closing`: its time is over, and its key is being
 * closed so that it cannot be placed any more.
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
