import type { TradingGraphError } from '../errors.ts';

const BASE_MS = 500;
const MAX_MS = 30_000;

/**
 * Codes that say "not now", though repeating at once is of no use: a faulty answer is corrected at some time, and
 * an account that is locked is opened again.
 */
const PASSING = new Set(['GATEWAY_REFUSED', 'GATEWAY_CONTRACT', 'INTERNAL', 'PROTOCOL']);

/** Exponential back-off with full jitter, and not before the server's `retryAfter`, in seconds. */
export function retryDelayMs(failures: number, retryAfter: number | null, random: number): number {
  const jitteredMs = random * Math.min(MAX_MS, BASE_MS * 2 ** failures);
  return Math.max(0, retryAfter ?? 0) * 1_000 + jitteredMs;
}

/** Whether another try would only be refused again; with `mayRenew` a new token may help. */
export function isFinal({ code, retryable }: TradingGraphError, mayRenew: boolean): boolean {
  if (retryable || PASSING.has(code)) return false;
  return code !== 'UNAUTHENTICATED' || !mayRenew;
}
