import type { CallOutcome } from './caller.ts';
import { DeadlineError, NotAttemptedError, SendExpiredError } from './errors.ts';
import type { Exchange, NoAnswer, NotSent, WireCall } from './exchange.ts';
import { isJsonType, isSuccess, isWordedRefusal } from './judge.ts';
import { OPERATIONS } from './operations.ts';
import { BulkheadFullError } from './resilience/bulkhead.ts';

/** The outcome of a call as one word for operators, however it is judged for its client. */
export function callOutcome(call: WireCall, exchange: Exchange): CallOutcome {
  if (!exchange.sent) return outcomeUnsent(call, exchange);
  if (!exchange.answered) return OUTCOME_OF_REASON[exchange.reason];
  const { status, headers } = exchange;
  if (isSuccess(status)) return isJsonType(headers['content-type']) ? 'ok' : 'contract';
  if (status === 304) return 'ok';
  if (status === 401 || status === 403 || status === 429) return `${status}`;
  if (status >= 500) return '5xx';
  if (status === 408) return 'timeout';
  // A write's 4xx is about its input; a read's without the interface's error body may be a proxy's.
  if (status < 400) return 'contract';
  const isRead = OPERATIONS[call.operation].effect === 'read';
  return isRead && !isWordedRefusal(exchange) ? 'contract' : '4xx';
}

function outcomeUnsent(call: WireCall, { cause }: NotSent): CallOutcome {
  if (cause instanceof SendExpiredError) return 'expired';
  if (cause instanceof NotAttemptedError) {
    return cause instanceof BulkheadFullError ? 'busy' : 'circuit';
  }
  if (cause instanceof DeadlineError) return 'timeout';
  return call.caller.signal?.aborted ? 'cancelled' : 'connect';
}

const OUTCOME_OF_REASON: Readonly<Record<NoAnswer['reason'], CallOutcome>> = {
  timeout: 'timeout',
  connection: 'reset',
  protocol: 'contract',
  oversize: 'contract',
  encoding: 'contract',
  aborted: 'cancelled',
};

/** Why a connection was not made, or broke, by the code of its error: a label, so the set is fixed. */
export const CONNECTION_FAULTS = [
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
  'EMFILE',
  'ENFILE',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL',
  'other',
] as const;

export type ConnectionFault = (typeof CONNECTION_FAULTS)[number];

const KNOWN: ReadonlySet<string> = new Set(CONNECTION_FAULTS);
// OpenSSL's own complaints, such as ERR_SSL_WRONG_VERSION_NUMBER of a server without TLS, are hundreds.
const OF_OPENSSL = /^(?:ERR_SSL_|EPROTO$)/;
/** Errors have a cause or two, and nobody promises that these form no circle. */
const DEEPEST = 4;

/** Null where the call's connection was not lost. */
export function connectionFault(outcome: CallOutcome, exchange: Exchange): ConnectionFault | null {
  if (outcome !== 'connect' && outcome !== 'reset') return null;
  return 'cause' in exchange ? faultOf(exchange.cause) : 'other';
}

function faultOf(cause: unknown): ConnectionFault {
  let error = cause;
  for (let depth = 0; depth < DEEPEST && error instanceof Error; depth += 1) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code === 'string') {
      if (KNOWN.has(code)) return code as ConnectionFault;
      if (OF_OPENSSL.test(code)) return 'ERR_SSL';
    }
    error = error.cause;
  }
  return 'other';
}
