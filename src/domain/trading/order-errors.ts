import { GatewayError, NotAttemptedError } from '../../gateway/gateway-error.ts';
import { isOperation, OPERATIONS } from '../../gateway/operations.ts';
import { InputError, PublicError, type Shown } from '../../lib/public-error.ts';
import { RecordsUnavailableError } from '../../store/refusals.ts';
import { UnauthenticatedError, UnknownKeyError } from '../auth/token-errors.ts';
import { TooManyAttemptsError } from '../auth/trading-limits.ts';

/** The token could not be proved: nothing was sent, and the records were not searched for the key. */
export class UnprovedOrderError extends GatewayError {
  override get shown(): Shown {
    const { code, message, more } = super.shown;
    return { code, message, more: { ...more, earlierUnknown: true } };
  }
}

/** Reasons for which this service itself did not send an order, with `retryAfter` in seconds. */
const HELD_BACK: Readonly<Record<string, readonly [message: string, retryAfter?: number]>> = {
  held: ['Orders are held back for now: this request was not sent.'],
  // While the circuit breaker is open, one order is sent every 5 seconds as a probe.
  circuit: ['The gateway has just answered no order: this one was not sent.', 5],
  busy: ['The gateway is still busy with other orders: this one was not sent.', 1],
};

export class UnsentOrderError extends GatewayError {
  constructor(operation: string, cause: unknown) {
    super('unavailable', operation, 'never sent', { cause });
  }

  override get shown(): Shown {
    const { cause } = this;
    const { code, message: usual, more } = super.shown;
    const reason = cause instanceof NotAttemptedError ? cause.reason : '';
    const [message = usual, retryAfter] = HELD_BACK[reason] ?? [];
    return { code, message, more: { ...more, ...(retryAfter !== undefined && { retryAfter }) } };
  }
}

export class KeyNotVoidedError extends PublicError {
  override readonly name = 'KeyNotVoidedError';
  override readonly cause: RecordsUnavailableError;

  constructor(cause: RecordsUnavailableError) {
    super('the key could not be closed');
    this.cause = cause;
  }

  get shown(): Shown {
    const { code, more } = this.cause.shown;
    const message = 'It is unknown whether the key is closed.';
    // Clients would take `retryable: false` as a sign that the key is closed.
    return { code, message, more: { ...more, retryable: true, earlierUnknown: true } };
  }
}

const NOT_SENT = Symbol('the order of this request was not sent');

/** Marks the error of a request that certainly sent nothing. Earlier requests with the key may have been sent. */
export function notSent(error: unknown): unknown {
  if (isBeforeSending(error)) Object.defineProperty(error, NOT_SENT, { value: true });
  return error;
}

export function wasNotSent(error: Error): boolean {
  return NOT_SENT in error;
}

/** Whether the error warns its client that an earlier request with the key may have been sent. */
export function leavesDoubt(error: unknown): boolean {
  if (error instanceof RecordsUnavailableError) return error.earlierUnknown;
  return error instanceof UnprovedOrderError || error instanceof KeyNotVoidedError;
}

/** Whether the request certainly sent nothing. False after a refusal by the gateway, and after a bug of this service. */
export function isBeforeSending(error: unknown): error is Error {
  if (error instanceof UnprovedOrderError) return true;
  if (error instanceof GatewayError) {
    const { operation, status } = error;
    return status === null || !isOperation(operation) || OPERATIONS[operation].effect !== 'order';
  }
  return BEFORE_SENDING.some((known) => error instanceof known);
}

const BEFORE_SENDING = [
  InputError,
  RecordsUnavailableError,
  TooManyAttemptsError,
  UnauthenticatedError,
  UnknownKeyError,
];
