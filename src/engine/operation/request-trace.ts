import type { IncomingMessage } from 'node:http';
import type { OperationDefinitionNode } from 'graphql';
import type { TraceSpan, Tracing } from '../../lib/tracing/tracing.ts';
import type { RequestSummary } from './request-summary.ts';

const ROUTE = '/graphql';

/** Begins the span of an HTTP request. Addresses, user agents and query strings are personal, so they are left out. */
export function traceRequest(
  tracing: Tracing,
  { method = '', headers, httpVersion }: IncomingMessage,
  isFromProxy: boolean,
): TraceSpan {
  return tracing.start({
    // Node accepts only methods that it knows.
    name: `${method} ${ROUTE}`,
    kind: 'SERVER',
    attributes: {
      'http.request.method': method,
      'http.route': ROUTE,
      'url.path': ROUTE,
      'url.scheme': 'http',
      'network.protocol.version': httpVersion,
    },
    // Only a proxy's trace is continued.
    parent: isFromProxy ? tracing.senderOf(headers) : undefined,
  });
}

/**
 * Adds the operation to the span of its HTTP request. An operation of a socket begins a span, because a span of the socket
 * would last until it closes. The span has no document and no variables, which may contain a password. It has a name only
 * from a manifest, because clients choose other names freely.
 */
export function traceOperation(
  tracing: Tracing,
  record: RequestSummary,
  { operation, name }: OperationDefinitionNode,
): void {
  const attributes = {
    'graphql.operation.type': operation,
    ...(record.isTrusted && name && { 'graphql.operation.name': name.value }),
  };
  record.trace?.set(attributes);
  record.trace ??= tracing.start({ name: operation, kind: 'SERVER', attributes });
}
