import type { OrderOutcome } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** The options of `resume`. */
export interface ResumeOptions {
  /**
   * How long the outcomes are sought, in milliseconds; 30,000 by default. In the second half the keys of orders without an
   * outcome are closed.
   */
  readonly withinMs?: number | undefined;
}

/** An order that was placed in an earlier run of the app, or is being placed by another tab, with its outcome. */
export interface ResumedOrder {
  readonly idempotencyKey: string;
  /** When the order was first placed, by the server's clock if that was known, in ISO 8601; null if no time is readable. */
  readonly placedAt: string | null;
  readonly outcome: OrderOutcome;
  /** Whether the earlier run had this outcome already, but may not have shown it. */
  readonly settled: boolean;
  /** Shows the order, and begins another one after `reset`. If the outcome is unknown, `retry` asks again. */
  readonly ticket: Ticket;
  /**
   * Deletes the key of an order that the user has dealt with. Until then each `resume` returns an unknown order again, and
   * any order for a second. Rejects with a TradingGraphError if the storage fails.
   */
  forget(): Promise<void>;
}
