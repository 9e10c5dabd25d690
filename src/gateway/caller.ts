import type { RequestCaller } from '../lib/limits/request-caller.ts';
import type { TraceSpan } from '../lib/tracing/tracing.ts';

/**
 * The outcome of a call on the wire, which may differ from the answer that the client gets. `circuit` and `busy`: the call
 * never began. `expired`: it would have been sent too late. `credentials`: the called service refused ours, with a 401 or
 * 403. Each outcome has a counter from the start.
 */
export const CALL_OUTCOMES = [
  'ok',
  'connect',
  'reset',
  'timeout',
  'contract',
  'credentials',
  '401',
  '403',
  '429',
  '4xx',
  '5xx',
  'circuit',
  'busy',
  'expired',
  'cancelled',
] as const;

export type CallOutcome = (typeof CALL_OUTCOMES)[number];

export interface ReceiptEntry {
  readonly operation: string;
  readonly ms: number;
  /** A call of this request, the cache, or another request's call. */
  readonly source: 'call' | 'cache' | 'shared';
  /** How the call ended; absent if this request made no call. */
  readonly outcome?: CallOutcome;
}

/**
 * The caller on whose behalf the gateway is called. The request's id is sent as `X-Request-Id`; the client's address and
 * agent are sent only with GATEWAY_FORWARD_CLIENT. A call without a trace starts its own trace.
 */
export interface Caller extends RequestCaller {
  /** Marks the poll of a feed: no client waits for its answer, and another poll follows. */
  readonly priority?: 'poll' | undefined;
  /** The span of the operation that makes the call. */
  readonly trace?: TraceSpan | undefined;
  /** Adds an ended call to the request's receipt, the list of its gateway calls that the sandbox shows. */
  readonly receipt?: ((entry: ReceiptEntry) => void) | undefined;
}
