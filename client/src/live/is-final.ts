import type { TradingGraphError } from '../errors.ts';

/**
 * Codes that say "not now", though repeating at once is of no use: a faulty answer is corrected at some time, and
 * an account that is locked is opened again.
 */
const PASSING = new Set(['GATEWAY_REFUSED', 'GATEWAY_CONTRACT', 'INTERNAL', 'PROTOCOL']);

/** Whether another try would only be refused again; with `mayRenew` a new token may help. */
export function isFinal({ code, retryable }: TradingGraphError, mayRenew: boolean): boolean {
  if (retryable || PASSING.has(code)) return false;
  return code !== 'UNAUTHENTICATED' || !mayRenew;
}
