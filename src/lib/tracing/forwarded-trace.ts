import { randomBytes } from 'node:crypto';
import type { Trace, TraceHeaders } from './tracing.ts';

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
const PRINTABLE = /^[\t\x20-\x7e]+$/;
const PARENT_ID_BYTES = 8;
const LONGEST = { tracestate: 512, baggage: 1_024 } as const;

/**
 * The part of a request's trace that is forwarded where nothing is recorded here, if any. A sender that is not trusted
 * keeps its trace id, but not the sampled flag, under a new parent id as W3C's specification asks, nor `tracestate`, in
 * which vendors keep sampling decisions.
 */
export function forwardedTrace(headers: TraceHeaders, isTrusted: boolean): Trace | undefined {
  const [traceparent, traceId] = TRACEPARENT.exec(String(headers.traceparent)) ?? [];
  const forwarded: string[] = [];
  if (traceparent !== undefined && isTrusted) {
    forwarded.push('traceparent', traceparent, ...short(headers, 'tracestate'));
  } else if (traceparent !== undefined) {
    const parentId = randomBytes(PARENT_ID_BYTES).toString('hex');
    forwarded.push('traceparent', `00-${traceId}-${parentId}-00`);
  }
  forwarded.push(...short(headers, 'baggage'));
  return forwarded.length > 0 ? { headers: forwarded } : undefined;
}

/** A header's name and value; nothing where it is missing, too long or not plain. */
export function short(headers: TraceHeaders, name: keyof typeof LONGEST): readonly string[] {
  const value = headers[name];
  return typeof value === 'string' && value.length <= LONGEST[name] && PRINTABLE.test(value)
    ? [name, value]
    : [];
}
