import { randomBytes } from 'node:crypto';
import {
  readBaggage,
  readTraceContext,
  type TraceContext,
  type TraceHeaders,
  traceparentOf,
} from './trace-context.ts';
import type { Trace } from './tracing.ts';

const PARENT_ID_BYTES = 8;

/**
 * The part of a request's trace that is forwarded where nothing is recorded here; undefined where it has none.
 * A sender that is not trusted keeps its trace id, by which logs can be compared, but does not make
 * the next service record: the sampled flag is cleared, under a new parent id as W3C's specification
 * asks, and `tracestate`, in which vendors keep sampling decisions of their own, is dropped.
 */
export function forwardedTrace(headers: TraceHeaders, isTrusted: boolean): Trace | undefined {
  const received = readTraceContext(headers);
  const context = received === null || isTrusted ? received : unsampled(received);
  const baggage = readBaggage(headers);
  const forwarded: string[] = [];
  if (context !== null) forwarded.push('traceparent', traceparentOf(context));
  if (context?.state) forwarded.push('tracestate', context.state);
  if (baggage !== null) forwarded.push('baggage', baggage);
  return forwarded.length > 0 ? { headers: forwarded } : undefined;
}

function unsampled(context: TraceContext): TraceContext {
  const parentId = randomBytes(PARENT_ID_BYTES).toString('hex');
  return { ...context, parentId, isSampled: false, state: null };
}
