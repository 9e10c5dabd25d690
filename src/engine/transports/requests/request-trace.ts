import type { IncomingMessage } from 'node:http';
import type { TraceSpan, Tracing } from '../../../lib/tracing/tracing.ts';
import type { ClientAddresses } from './client-address.ts';

const ROUTE = '/graphql';
const FIRST_SERVER_ERROR = 500;

/** Begins the span of an HTTP request. Addresses, user agents and query strings are personal, so they are left out. */
export function requestTrace(
  tracing: Tracing,
  request: IncomingMessage,
  addresses: ClientAddresses,
): TraceSpan {
  // Node accepts only methods that it knows.
  const { method = '', headers } = request;
  return tracing.start({
    name: `${method} ${ROUTE}`,
    kind: 'SERVER',
    attributes: {
      'http.request.method': method,
      'http.route': ROUTE,
      'url.path': ROUTE,
      'url.scheme': 'http',
      'network.protocol.version': request.httpVersion,
    },
    // Only a proxy's trace is continued.
    parent: addresses.isFromProxy(request) ? tracing.senderOf(headers) : undefined,
  });
}

/** Ends the span. A null status means that the client left before it was answered, which is not an error. */
export function endRequestTrace(span: TraceSpan, status: number | null): void {
  const errorType = status !== null && status >= FIRST_SERVER_ERROR ? String(status) : null;
  span.end(errorType, status === null ? {} : { 'http.response.status_code': status });
}
