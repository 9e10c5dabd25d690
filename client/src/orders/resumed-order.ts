import type { OrderOutcome } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** The options of `resume`. */
export interface ResumeOptions {
  /** How long the outcomes are sought, in milliseconds; 30,000 by default. In the second half the keys of those without one are closed. */
  readonly withinMs?: number | undefined;
}

/** An order that was placed in an earlier run of the app, or is being placed by another tab, with its outcome. */
export interface ResumedOrder {
  readonly idempotencyKey: string;
  /** When it was first placed, by the server's clock where that was known, in ISO 8601; null where that cannot be read. */
  readonly placedAt: string | null;
  readonly outcome: OrderOutcome;
  /** Whether the run that placed it had this outcome already, and ended before the app has surely shown it. */
  readonly settled: boolean;
  /** Asks again by its `retry`, where it is unknown. It shows the order, and becomes another one after `reset`. */
  readonly ticket: Ticket;
  /**
   * Deletes the key of an order that the user has dealt with: until then each `resume` returns one that is unknown, and for a
   * second of any. Rejects with a TradingGraphError where the storage fails.
   */
  forget(): Promise<void>;
}
