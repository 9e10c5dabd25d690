import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderOutcome } from './outcome.ts';

/** The options of a ticket. */
export interface TicketOptions {
  /**
   * How long after the first tap the order may still be sent or repeated, in milliseconds. By default 5,000 for an order at
   * the market, whose price the user has seen, and 23 hours, the maximum, for an order that waits for its price. After that
   * time its key is closed: an order that has not been placed by then never will be.
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * The key of the ticket's first order, from the service's `newOrderKey`; by default the client makes one. For a form that is
   * posted to a server, so that a repeated request is the same order. The key may have been used before, so an error leaves
   * the order `unknown`.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The options of placing an order. */
export interface PlaceOptions {
  /**
   * How long an outcome is sought, in milliseconds; 60,000 by default. The order is sent only in the first half, and within
   * `maxWaitMs`; the rest is for closing its key.
   */
  readonly withinMs?: number | undefined;
  /**
   * Called at each attempt, with its step. A call of `place` that joins an earlier one, such as a double tap, gets none of
   * these calls.
   */
  readonly onProgress?: ((progress: OrderProgress) => void) | undefined;
}

/**
 * The step of an order. `sending`: its first request is under way. `asking`: that request may have been lost, so it is
 * repeated under the same key, and the answer has the outcome of the first. `closing`: its time is over, so its key is being
 * closed, and the order cannot be placed any more.
 */
export type OrderProgress = 'sending' | 'asking' | 'closing';

/** The state of a ticket's order. */
export type TicketState =
  | { readonly status: 'ready'; readonly outcome: null }
  /** The order is under way. The outcome is null, or the former one if the order is placed again. */
  | {
      readonly status: 'placing';
      readonly outcome: OrderOutcome | null;
      readonly progress: OrderProgress;
    }
  | Shown<OrderOutcome>;

/** Each outcome with its own status. */
type Shown<Outcome extends OrderOutcome> = Outcome extends OrderOutcome
  ? { readonly status: Outcome['status']; readonly outcome: Outcome }
  : never;

/**
 * The right to place one order. However often it is placed, by a double tap or again after a lost answer, it becomes at
 * most one order; two tickets are two orders, even if equal. Create it with the form, or next to the client if the form is
 * unmounted in between.
 */
export interface Ticket {
  /**
   * Carries the server's time. It may change once, at the tap, if that time was unknown before, and while the order is placed
   * if the server refuses its time. A new key after `reset`, and after an order that is `unsent` because of its key, such as
   * `EXPIRED` and `VOIDED`.
   */
  readonly idempotencyKey: string;
  /** The login for which the order is placed. Null before that, and if nothing was sent. */
  readonly account: string | null;
  /** Whether the key outlives the app, so that `resume` finds the order again: false if the storage refuses. */
  readonly isDurable: boolean;
  /**
   * Places an order at the market, or one that waits for `price`. Never rejects. A second tap joins the first. Another
   * input is not placed while the order is under way or in doubt: the outcome is that order's, `unknown`, with the code
   * `UNDER_WAY` or `IN_DOUBT`.
   */
  place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
  /** Places an order that always waits for its price, by the same rules. */
  placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
  /** Places the same order again: asks for its outcome, or sends an unsent order. Null if no order was placed. */
  retry(options?: PlaceOptions): Promise<OrderOutcome | null>;
  /** Begins another order. It does nothing while an order is being placed, so that its outcome is shown. */
  reset(): void;
  /** The same object until something changes. */
  state(): TicketState;
  /**
   * Calls the listener at once and at each change. While there are listeners, the ticket resets if another account signs in.
   * The order of the former account continues. Returns a function that stops the calls.
   */
  follow(listener: (state: TicketState) => void): () => void;
}
