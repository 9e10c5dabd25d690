import type { TradingGraphError } from '../errors.ts';
import type { KeyAge } from './key-age.ts';
import type { OrderAccepted, OrderRejected, OrderUnknown, OrderUnsent } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** An order that was placed in an earlier run of the app, or is being placed by another tab, with its outcome. */
export interface ResumedOrder {
  readonly idempotencyKey: string;
  /** When it was first placed, by the server's clock where that was known, in ISO 8601; null where that cannot be read. */
  readonly placedAt: string | null;
  /**
   * Whether the server still has all that it knew of the order. Where it is `old` or `inDoubt`, `notFound` does not
   * mean that nothing was traded, and placing the ticket only asks.
   */
  readonly age: KeyAge;
  readonly outcome: ResumedOutcome;
  /**
   * Places the order again under the same key, for a form that was kept: the input has to be the same. Where its
   * `maxWaitMs` is over, nothing is sent any more, and its key is closed.
   */
  readonly ticket: Ticket;
  /**
   * Deletes the key of an order that the user has dealt with; until then each `resume` reports it. Rejects with a
   * TradingGraphError where the storage fails.
   */
  forget(): Promise<void>;
}

/** The outcome of an order that had none when the app ended. */
export type ResumedOutcome =
  | OrderAccepted
  | OrderRejected
  | OrderUnknown
  /** It was not placed, and its key is closed. */
  | OrderUnsent
  /** The server has no record: the order may still arrive, since its time is not over, or its age is not known. */
  | { readonly status: 'notFound' }
  /** The server could not be asked, or the order is still under way. */
  | { readonly status: 'unanswered'; readonly error: TradingGraphError };
