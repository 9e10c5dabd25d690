import type { TradingGraphError } from '../errors.ts';
import { neverLeft } from '../request/never-left.ts';

const BASE_MS = 250;
const MAX_MS = 4_000;

/** Errors with which the server says that this request traded nothing, and that a later request can succeed. */
const NOT_YET: ReadonlySet<string> = new Set([
  'IDEMPOTENCY_UNAVAILABLE',
  'GATEWAY_UNAVAILABLE',
  'RATE_LIMITED',
  'UNAUTHENTICATED',
]);

/** Errors with which the server says that this request traded nothing, and that the same request never will. */
const REFUSED =
  /^(?:FORBIDDEN|BAD_USER_INPUT|GRAPHQL_|QUERY_TOO_COMPLEX|PERSISTED_DOCUMENT_|PAYLOAD_TOO_LARGE)/;

/** Permanent errors of this client. They can occur while an order is under way. */
const ENDED: ReadonlySet<string> = new Set(['STORAGE', 'SIGNED_OUT', 'DISPOSED']);

/**
 * Whether the order may have been placed although its request ended in this error. If the platform resends requests, the
 * error may answer only a second copy of the request. A server that cannot read its records knows nothing of the first copy.
 */
export function mayHaveTraded(error: TradingGraphError, resends: boolean): boolean {
  // `sent`: whether the server has sent this request to the gateway. `earlierUnknown`: whether an earlier one may have been.
  const { sent, earlierUnknown } = error.extensions;
  if (earlierUnknown === true) return sent !== false || resends;
  if (sent === false) return false;
  return !NOT_YET.has(error.code) && !REFUSED.test(error.code) && !neverLeft(error);
}

export function isLasting(error: TradingGraphError): boolean {
  return isTooOld(error) || isFull(error) || REFUSED.test(error.code) || ENDED.has(error.code);
}

/** Whether the server's records will never reach back to the time of the key. */
function isTooOld(error: TradingGraphError): boolean {
  return error.code === 'IDEMPOTENCY_UNAVAILABLE' && !error.retryable && !isFull(error);
}

/** Whether the server refuses the key itself: it belongs to another order, or its time is too far ahead. */
export function isRefusedKey({ code, extensions }: TradingGraphError): boolean {
  return code === 'BAD_USER_INPUT' && extensions.argument === 'input.idempotencyKey';
}

/** Whether another key could succeed where this one never will. */
export function needsOtherKey(error: TradingGraphError): boolean {
  return isTooOld(error) || isRefusedKey(error);
}

/** Whether the account has used up its orders of a day. Keys can still be closed. */
function isFull({ code, extensions }: TradingGraphError): boolean {
  return code === 'IDEMPOTENCY_UNAVAILABLE' && extensions.limit !== undefined;
}

/** Whether the key can be closed after this error of an order in doubt. */
export function mayClose(error: TradingGraphError): boolean {
  const { code } = error;
  return REFUSED.test(code) || code === 'STORAGE' || isFull(error) || isTooOld(error);
}

/** Exponential back-off with jitter, from half of the ceiling to the ceiling, after the time that the server names. */
export function pauseMs(error: TradingGraphError, failures: number, random: number): number {
  const ceilingMs = Math.min(MAX_MS, BASE_MS * 2 ** failures);
  return Math.max(0, error.retryAfter ?? 0) * 1_000 + (ceilingMs / 2) * (1 + random);
}
