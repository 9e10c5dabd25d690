import type { TradingGraphError } from '../errors.ts';
import { isTradingGraphError, protocolError } from '../request/failures.ts';

/** An error of any other class is a mistake in the client itself, or in the environment that the app has given it. */
export function asError(cause: unknown): TradingGraphError {
  return isTradingGraphError(cause) ? cause : protocolError('The client failed.', { cause });
}
