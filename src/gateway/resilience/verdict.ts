import { DeadlineError, NotAttemptedError } from '../errors.ts';
import type { Exchange, NotSent, WireCall } from '../exchange.ts';
import { OPERATIONS } from '../operations.ts';

/**
 * The health of the gateway as one call shows it; `none` where it shows nothing. A `failure` is an answer, or that none
 * came in time; where no connection could be made the gateway is `unreachable`.
 */
export type Verdict = 'success' | 'failure' | 'unreachable' | 'none';

export function judgeHealth(call: WireCall, exchange: Exchange): Verdict {
  return OPERATIONS[call.operation].effect === 'order'
    ? judgeOrderHealth(call, exchange)
    : judgeCallHealth(call, exchange);
}

/**
 * For an order only the connection to the gateway is judged. One that was sent may have traded, however its
 * answer looks, and to hold the next ones back would not undo it.
 */
function judgeOrderHealth(call: WireCall, exchange: Exchange): Verdict {
  if (exchange.sent) return 'success';
  return isConnectFailure(call, exchange) ? 'unreachable' : 'none';
}

function judgeCallHealth(call: WireCall, exchange: Exchange): Verdict {
  if (!exchange.sent) {
    if (exchange.cause instanceof DeadlineError) return 'failure';
    return isConnectFailure(call, exchange) ? 'unreachable' : 'none';
  }
  if (!exchange.answered) {
    return exchange.reason === 'timeout' || exchange.reason === 'connection' ? 'failure' : 'none';
  }
  if (exchange.status >= 500) return 'failure';
  // A 401 or 403 may come from a proxy in front of a backend that is down; and
  // forged tokens must be able to prove neither health nor failure.
  return exchange.status === 401 || exchange.status === 403 ? 'none' : 'success';
}

/** Returns true where a read that ended like this may succeed a moment later. */
export function isWorthRepeating(call: WireCall, exchange: Exchange): boolean {
  if (call.caller.signal?.aborted) return false;
  if (!exchange.sent) return isConnectFailure(call, exchange);
  // Mostly a keep-alive connection that the gateway closed just as it was used again.
  if (!exchange.answered) return exchange.reason === 'connection';
  return exchange.status === 429 || exchange.status >= 500;
}

export function wasNotAttempted(exchange: Exchange): boolean {
  return !exchange.sent && exchange.cause instanceof NotAttemptedError;
}

// Requests that cannot be sent anywhere, and pools that are being closed, are no failure of the gateway's.
const OWN_FAULTS: ReadonlySet<unknown> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_ABORTED',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
]);

/** Refused, unreachable, unknown host, TLS: no connection was made. An exhausted pool does not count. */
function isConnectFailure(call: WireCall, exchange: NotSent): boolean {
  const { cause } = exchange;
  if (wasNotAttempted(exchange) || cause instanceof DeadlineError) return false;
  if (OPERATIONS[call.operation].effect === 'read' && call.caller.signal?.aborted) return false;
  return !(cause instanceof Error && 'code' in cause && OWN_FAULTS.has(cause.code));
}
