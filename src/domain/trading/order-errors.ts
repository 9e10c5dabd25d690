import { GatewayError } from '../../gateway/gateway-error.ts';
import { isOperation, OPERATIONS } from '../../gateway/operations.ts';
import { InputError } from '../../lib/input-error.ts';
import { RecordsUnavailableError } from '../../store/refusals.ts';
import { UnauthenticatedError, UnknownKeyError } from '../auth/token-errors.ts';
import { TooManyAttemptsError } from '../auth/trading-limits.ts';

/** The token could not be proved: nothing was sent, and the records were not searched for the key. */
export class UnprovedOrderError extends GatewayError {}

/** It is unknown whether the key is closed. */
export class KeyNotVoidedError extends Error {
  override readonly name = 'KeyNotVoidedError';
  override readonly cause: RecordsUnavailableError;

  constructor(cause: RecordsUnavailableError) {
    super('the key could not be closed');
    this.cause = cause;
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
