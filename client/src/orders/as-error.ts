import { TradingGraphError } from '../errors.ts';

/** Errors are told by their name: another entry of this package may have a class of its own. */
export function asError(thrown: unknown): TradingGraphError {
  if (thrown instanceof Error && thrown.name === 'TradingGraphError') {
    return thrown as TradingGraphError;
  }
  const message = 'The client failed.';
  return new TradingGraphError(message, { code: 'PROTOCOL', retryable: false, cause: thrown });
}
