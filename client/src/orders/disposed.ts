import { TradingGraphError } from '../errors.ts';

export function disposed(): TradingGraphError {
  return new TradingGraphError('The client was disposed.', { code: 'DISPOSED', retryable: false });
}
