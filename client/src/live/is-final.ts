import type { TradingGraphError } from '../errors.ts';

/** Not retryable at once, but not final: a faulty answer is corrected at some time, and a locked account is opened again. */
const PASSING = new Set(['GATEWAY_REFUSED', 'GATEWAY_CONTRACT', 'INTERNAL', 'PROTOCOL']);

/** Whether another try would be refused again; with `mayRenew` a new token may help. */
export function isFinal({ code, retryable }: TradingGraphError, mayRenew: boolean): boolean {
  if (retryable || PASSING.has(code)) return false;
  return code !== 'UNAUTHENTICATED' || !mayRenew;
}
