import type { Token } from '../lib/token.ts';
import type { Trace } from '../lib/tracing/tracing.ts';
import type { OperationName } from './operations.ts';

/** Where an answer came from: a call of this request, the cache, or another request's in-flight call. */
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
  readonly operation: OperationName;
  readonly ms: number;
  readonly source: ReceiptSource;
  /** Of a call of this request. */
  readonly outcome?: CallOutcome;
}

/** On whose behalf the gateway is called. */
export interface Caller {
  readonly token: Token | null;
  /** Aborts a read once no client waits for it; a write runs to its own deadline. */
  readonly signal?: AbortSignal;
  /** The client's own address and agent, sent on where GATEWAY_FORWARD_CLIENT says so. */
  readonly client?: { readonly address: string; readonly userAgent: string | null };
  /** The id of the request, sent on as `X-Request-Id`. */
  readonly requestId?: string;
  /** The trace that the call is part of; a call without one is a trace of its own. */
  readonly trace?: Trace | undefined;
  /** The login that the token is proved to have when it is called. It says whose a failure is, not whose the data is. */
  readonly provedLogin?: () => string | null;
  /** Marks a feed's poll: no client waits for this one answer, and another poll follows anyway. */
  readonly priority?: 'poll';
  /** Called with each call once it has ended. */
  readonly receipt?: (entry: ReceiptEntry) => void;
}
