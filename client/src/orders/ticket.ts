import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderOutcome } from './outcome.ts';

/** The options of a ticket. */
export interface TicketOptions {
  /**
   * How long after it was first placed the order may still be sent or repeated, in milliseconds. 5,000 by default for an
   * order at the market, whose price the user has seen; 23 hours for one that waits for its price, which is the most. After
   * that its key is closed: unless it has been placed by then, it never will be.
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * The key of its first order, where a form brings it to a server, so that a repeated request is the same order. It
   * may have been used before: an error alone then leaves the order `unknown`. By default a new one.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The options of placing an order. */
export interface PlaceOptions {
  /**
   * How long an outcome is sought, in milliseconds; 60,000 by default. The order is sent in the first half at most, and
   * in `maxWaitMs`; the rest is for closing its key.
   */
  readonly withinMs?: number | undefined;
  /**
   * Called with each attempt of this placing, and what it is for. A placing that joins another, as a double tap does, gets
   * no calls.
   */
  readonly onProgress?: ((progress: OrderProgress) => void) | undefined;
}

/**
 * The step an order is in. `sending`: its first request is on its way. `asking`: that request may have been lost, so it
 * is repeated under the same key, which also answers what became of it. `closing`: its time is over, and its key is being
 * closed so that it cannot be placed any more.
 */
export type OrderProgress = 'sending' | 'asking' | 'closing';

/** The state of a ticket's order. */
export type TicketState =
  | { readonly status: 'ready'; readonly outcome: null }
  /** It is under way. The outcome is the former one where an order is placed again. */
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
 * The right to place one order. However often it is placed, by a double tap or again after a lost answer, it becomes
 * one order at most; two tickets are two orders, however alike. Make it with the form, or next to the client where the
 * form comes and goes.
 */
export interface Ticket {
  /** Another one after `reset`, and after an order that is `unsent` because of its key, as `EXPIRED` and `VOIDED` are. */
  readonly idempotencyKey: string;
  /** The login that the order was placed for; null before, and again where nothing was sent. */
  readonly account: string | null;
  /** Whether the key outlives the app, so that `resume` finds the order again: false where the storage refuses. */
  readonly isDurable: boolean;
  /**
   * Places an order at the market, or one that waits for `price`. Never rejects. A second tap joins the first. Another input
   * is not placed while the order is under way or in doubt: the outcome is that order's, `unknown`, with the code `UNDER_WAY` or
   * `IN_DOUBT`.
   */
  place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
  /** Places an order that always waits for its price, by the same rules. */
  placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
  /** Places the same order again: asks what became of it, or sends what was unsent. Null where none was placed. */
  retry(options?: PlaceOptions): Promise<OrderOutcome | null>;
  /** Begins another order. While one is being placed it does nothing, so that its outcome is seen. */
  reset(): void;
  /** The same object until something changes. */
  state(): TicketState;
  /**
   * Calls back at once and with each change. A ticket that is followed is a form: it begins anew where another account is
   * signed in than that of its order, which goes on. Returns a function that ends it.
   */
  follow(listener: (state: TicketState) => void): () => void;
}
