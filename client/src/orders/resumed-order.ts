import type { TradingGraphError } from '../errors.ts';
import type { KeyAge } from './key-age.ts';
import type { OrderAccepted, OrderRejected, OrderUnknown } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** An order that was placed in an earlier run of the app, or is being placed by another tab, with its outcome. */
export interface ResumedOrder {
  readonly idempotencyKey: string;
  /** When it was first placed, by this device's clock, in ISO 8601; null where that cannot be read. */
  readonly placedAt: string | null;
  /**
   * Whether the server still has all that it knew of the order. Where it is `old` or `inDoubt`, `notFound` does not
   * mean that nothing was traded, and placing the ticket only asks.
   */
  readonly age: KeyAge;
  readonly outcome: ResumedOutcome;
  /**
   * Places the order again under the same key, for a form that was kept: the input has to be the same. Where its
   * `maxWaitMs` is over, nothing is sent any more: it asks, and is `unknown` where the server has no record.
   */
  readonly ticket: Ticket;
  /**
   * Deletes the key of an order that the user has dealt with; until then each `resume` reports it. Rejects with a
   * TradingGraphError where the storage fails.
   */
  forget(): Promise<void>;
}

export type ResumedOutcome =
  | OrderAccepted
  | OrderRejected
  | OrderUnknown
  /** The server has no record: the order has not arrived yet, ended in an error, or is more than a day old. */
  | { readonly status: 'notFound' }
  /** The server could not be asked, or the order is still under way. */
  | { readonly status: 'unanswered'; readonly error: TradingGraphError };
