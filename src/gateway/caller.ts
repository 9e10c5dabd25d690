import type { RequestCaller } from '../lib/limits/caller.ts';
import type { Trace } from '../lib/tracing/tracing.ts';

/** The source of an answer: a call of this request, the cache, or another request's in-flight call. */
export type ReceiptSource = 'call' | 'cache' | 'shared';

/**
 * The results of a call on the wire, however it is judged; `circuit` and `busy`: it was not even begun; `expired`:
 * it came too late to be sent. Each has its counter from the start.
 */
export const CALL_OUTCOMES = [
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
  'expired',
  'cancelled',
] as const;

export type CallOutcome = (typeof CALL_OUTCOMES)[number];

export interface ReceiptEntry {
  readonly operation: string;
  readonly ms: number;
  readonly source: ReceiptSource;
  /** How a call ended; absent where nothing was called for this request. */
  readonly outcome?: CallOutcome;
}

/**
 * On whose behalf the gateway is called. Where GATEWAY_FORWARD_CLIENT says so, the client's address and agent are sent on; the
 * id of the request is, as `X-Request-Id`. A call without a trace is a trace of its own.
 */
export interface Caller extends RequestCaller {
  /** Marks a feed's poll: no client waits for this one answer, and another poll follows anyway. */
  readonly priority?: 'poll' | undefined;
  /** The trace that the call is part of. */
  readonly trace?: Trace | undefined;
  /** Called with each call once it has ended. */
  readonly receipt?: ((entry: ReceiptEntry) => void) | undefined;
}
