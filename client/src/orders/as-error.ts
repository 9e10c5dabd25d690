import type { TradingGraphError } from '../errors.ts';
import { isTradingGraphError, protocolError } from '../request/failures.ts';

/** What is thrown otherwise is a mistake of the client's own, or of the environment that the app has given it. */
export function asError(cause: unknown): TradingGraphError {
  return isTradingGraphError(cause) ? cause : protocolError('The client failed.', { cause });
}
