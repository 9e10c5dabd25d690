import type { Result } from '../core.ts';
import { TradingGraphError } from '../errors.ts';
import { protocolError } from '../request/failures.ts';

/** The gateway took the order. */
export interface OrderAccepted {
  readonly status: 'accepted';
  readonly idempotencyKey: string;
  /** The gateway's number of the order. */
  readonly orderId: string | null;
  readonly message: string | null;
  /** Whether an earlier request with the same key had this outcome. */
  readonly replayed: boolean;
}

/** The gateway refused the order: nothing was traded. */
export interface OrderRejected {
  readonly status: 'rejected';
  readonly idempotencyKey: string;
  /** The gateway's name for the reason. */
  readonly error: string | null;
  readonly message: string | null;
  readonly replayed: boolean;
}

/**
 * The order may have been carried out or not: the gateway gave no clear answer, the server died, or it could not be
 * reached. Show the account's positions and orders, and ask again by the ticket's `retry`; another ticket would be another
 * order. While the order is under way or in doubt, a different input is not sent: it gets this outcome with the code
 * `UNDER_WAY` or `IN_DOUBT`. With the code `IDEMPOTENCY_UNAVAILABLE` the server may have lost the record of an earlier
 * request.
 */
export interface OrderUnknown {
  readonly status: 'unknown';
  readonly idempotencyKey: string;
  /** When the order was sent, in ISO 8601. */
  readonly sentAt: string;
  readonly message: string | null;
  /** The reason why no answer arrived; null if the server answered that the outcome is unknown. */
  readonly error: TradingGraphError | null;
}

/**
 * The order was not carried out, and will not be unless the ticket is placed again. `error.code` is `EXPIRED` if it came
 * too late, `VOIDED` if its key was closed before it came, and `SETTLED` if the broker has found that it was never carried
 * out.
 */
export interface OrderUnsent {
  readonly status: 'unsent';
  readonly idempotencyKey: string;
  readonly error: TradingGraphError;
}

/** The outcome of an order, as far as it is known. */
export type OrderOutcome = OrderAccepted | OrderRejected | OrderUnknown | OrderUnsent;

/** A final outcome. */
export type Settled = Exclude<OrderOutcome, OrderUnknown>;

/** The outcome as a server sends it; every property has to be checked. */
export interface OrderAnswer {
  readonly order: {
    readonly __typename: string;
    readonly idempotencyKey: string;
    readonly message: string | null;
    readonly replayed: boolean;
    readonly orderId?: string | null;
    readonly error?: string | null;
    readonly reason?: string | null;
    readonly sent?: boolean;
    readonly sentAt?: string;
  } | null;
}

/** The reasons that speak of all requests with a key. */
const UNSENT_REASONS: ReadonlySet<string> = new Set(['EXPIRED', 'VOIDED', 'SETTLED']);

/**
 * The outcome of an order of which an earlier request may have been sent. A newer server may have other reasons, which may
 * speak of the last request alone: then the outcome is unknown.
 */
export function ofAllRequests(outcome: OrderOutcome, sentAt: string): OrderOutcome {
  if (outcome.status !== 'unsent' || UNSENT_REASONS.has(outcome.error.code)) return outcome;
  const { idempotencyKey, error } = outcome;
  return { status: 'unknown', idempotencyKey, sentAt, message: null, error };
}

/** The outcome in an answer; null if the server has no record of the key. Throws a TradingGraphError for another answer. */
export function readAnswer(
  { data, errors }: Result<OrderAnswer>,
  key: string,
): OrderOutcome | null {
  const order = data?.order;
  const [error] = errors;
  if (order === undefined || order === null) {
    if (error) throw error;
    if (order === null) return null;
    throw protocolError('The answer has no outcome.');
  }
  const { idempotencyKey, message = null, replayed, orderId = null } = order;
  // A proxy or a cache may return the answer to another request, which says nothing about this order.
  if (idempotencyKey !== key) throw protocolError('The answer belongs to another order.');
  switch (order.__typename) {
    case 'OrderAccepted':
      return { status: 'accepted', idempotencyKey, orderId, message, replayed };
    case 'OrderRejected':
      if (order.sent === false) {
        const code = String(order.reason);
        const usual = code === 'EXPIRED' ? 'The order came too late.' : 'The order was not placed.';
        const refusal = new TradingGraphError(message ?? usual, { code, retryable: false });
        return { status: 'unsent', idempotencyKey, error: refusal };
      }
      return { status: 'rejected', idempotencyKey, error: order.error ?? null, message, replayed };
    case 'OrderOutcomeUnknown':
      return {
        status: 'unknown',
        idempotencyKey,
        sentAt: String(order.sentAt),
        message,
        error: null,
      };
    default:
      throw protocolError('The answer has no outcome.');
  }
}
