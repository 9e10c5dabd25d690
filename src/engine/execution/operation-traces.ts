import type { ExecutionResult } from 'graphql';
import type { TraceSpan, Tracing } from '../../lib/tracing/tracing.ts';
import type { Operation } from '../admission/operation.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';

/**
 * Begins the span of an operation if tracing is on. Its backend calls continue the span. The span has no document and no
 * variables, which may contain a password. It has a name only from a manifest, because clients choose other names freely.
 */
export function beginTrace(operation: Operation, tracing: Tracing | null): void {
  if (tracing === null) return;
  const { node } = operation.prepared;
  const { record } = operation.transport;
  const attributes = {
    'graphql.operation.type': node.operation,
    ...(record.isTrusted && node.name && { 'graphql.operation.name': node.name.value }),
  };
  // Operations of a socket have no span above them: the trace of its upgrade would grow until it closes.
  const kind = record.trace === null ? 'SERVER' : 'INTERNAL';
  const parent = record.trace?.context;
  operation.trace = tracing.start({ name: node.operation, kind, attributes, parent });
  record.trace ??= operation.trace;
}

/** Ends the span with the first error that is a fault; other errors are normal answers. The span is null if tracing is off. */
export function endSpan(span: TraceSpan | null, result: object, codes: ErrorCodes): void {
  if (span === null) return;
  const { errors = [] } = result as ExecutionResult;
  const fault = errors.find(({ extensions }) => codes.isFault(extensions?.code));
  const code = fault?.extensions?.code;
  span.end(typeof code === 'string' ? code : null);
}
