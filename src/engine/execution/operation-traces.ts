import type { ExecutionResult } from 'graphql';
import type { TraceSpan } from '../../lib/tracing/tracing.ts';
import type { Operation } from '../admission/operation.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';

/**
 * Begins the span of an operation if tracing is on. Its backend calls continue the span. The span has no document and no
 * variables, which may contain a password. It has a name only from a manifest, because clients choose other names freely.
 */
export function beginTrace(operation: Operation): void {
  const { node } = operation.prepared;
  const { record } = operation.transport;
  if (record.trace === null) return;
  const attributes = {
    'graphql.operation.type': node.operation,
    ...(record.isTrusted && node.name && { 'graphql.operation.name': node.name.value }),
  };
  operation.trace = record.trace.operation({ name: node.operation, attributes });
}

/** Ends the span with the first error that is a fault; other errors are normal answers. The span is null if tracing is off. */
export function endSpan(span: TraceSpan | null, result: object, codes: ErrorCodes): void {
  if (span === null) return;
  const { errors = [] } = result as ExecutionResult;
  const fault = errors.find(({ extensions }) => codes.isFault(extensions?.code));
  const code = fault?.extensions?.code;
  span.end({ errorType: typeof code === 'string' ? code : null });
}
