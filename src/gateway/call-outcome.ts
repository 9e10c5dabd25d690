import type { CallOutcome } from './caller.ts';
import { DeadlineError, NotAttemptedError } from './errors.ts';
import type { Exchange, NoAnswer, NotSent, WireCall } from './exchange.ts';
import { isJsonType, isSuccess, isWordedRefusal } from './judge.ts';
import { OPERATIONS } from './operations.ts';
import { PollsBusyError } from './resilience/poll-bulkhead.ts';

/** Every outcome, so that each has its counter from the start. */
export const CALL_OUTCOMES: readonly CallOutcome[] = [
  'ok',
  'connect',
  'reset',
  'timeout',
  'contract',
  '401',
  '403',
  '429',
  '4xx',
  '5xx',
  'circuit',
  'busy',
  'cancelled',
];

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
  if (cause instanceof NotAttemptedError) {
    return cause instanceof PollsBusyError ? 'busy' : 'circuit';
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
