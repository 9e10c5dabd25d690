import { GatewayError } from '../../gateway/errors.ts';
import { RecordsUnavailableError } from '../../store/order-records.ts';

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
