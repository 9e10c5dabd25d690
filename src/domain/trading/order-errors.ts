import { GatewayError } from '../../gateway/errors.ts';
import { isOperation, OPERATIONS } from '../../gateway/operations.ts';
import { RecordsUnavailableError } from '../../store/order-records.ts';
import { TooManyAttemptsError, UnauthenticatedError } from '../auth/errors.ts';
import { InputError } from '../input-error.ts';

/** The token could not be proved: nothing was sent, and the records were not asked about the key. */
export class UnprovedOrderError extends GatewayError {}

/** The key is closed, and the records do not reach back to when it was made: an order may have had it before. */
export class KeyForgottenError extends RecordsUnavailableError {
  override readonly name = 'KeyForgottenError';
}

/** The records did not say that the key is closed: it may be, or may not. */
export class KeyNotVoidedError extends Error {
  override readonly name = 'KeyNotVoidedError';
  override readonly cause: RecordsUnavailableError;

  constructor(cause: RecordsUnavailableError) {
    super('the key could not be closed');
    this.cause = cause;
  }
}

const NOT_SENT = Symbol('the order of this request was not sent');

/** Marks the error of an order whose request surely sent nothing. It says nothing of earlier requests with the key. */
export function notSent(error: unknown): unknown {
  if (isBeforeSending(error)) Object.defineProperty(error, NOT_SENT, { value: true });
  return error;
}

export function wasNotSent(error: Error): boolean {
  return NOT_SENT in error;
}

/** Whether its client is told that an earlier request with the key may have been sent. */
export function leavesDoubt(error: unknown): boolean {
  if (error instanceof RecordsUnavailableError) return error.earlierUnknown;
  return error instanceof UnprovedOrderError || error instanceof KeyNotVoidedError;
}

/** Whether it surely sent nothing. A refusal by the gateway itself, or a fault of ours, leaves it open. */
export function isBeforeSending(error: unknown): error is Error {
  if (error instanceof UnprovedOrderError) return true;
  if (error instanceof GatewayError) {
    const { operation, status } = error;
    return status === null || !isOperation(operation) || OPERATIONS[operation].effect !== 'order';
  }
  return [InputError, RecordsUnavailableError, TooManyAttemptsError, UnauthenticatedError].some(
    (known) => error instanceof known,
  );
}
