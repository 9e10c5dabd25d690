import type { IncomingMessage } from 'node:http';
import type { RequestTrace, Tracing } from '../../../lib/tracing/tracing.ts';
import type { ClientAddresses } from './client-address.ts';

const ROUTE = '/graphql';
const FIRST_SERVER_ERROR = 500;

/** The trace of an HTTP request. Addresses, user agents and query strings are personal, so they are left out. */
export function requestTrace(
  tracing: Tracing,
  request: IncomingMessage,
  addresses: ClientAddresses,
): RequestTrace {
  // Node accepts only methods that it knows.
  const { method = '' } = request;
  return tracing.receive({
    headers: request.headers,
    isContinued: addresses.isFromProxy(request),
    span: {
      name: `${method} ${ROUTE}`,
      attributes: {
        'http.request.method': method,
        'http.route': ROUTE,
        'url.path': ROUTE,
        'url.scheme': 'http',
        'network.protocol.version': request.httpVersion,
      },
    },
  });
}

/** Ends the trace. A null status means that the client left before it was answered, which is not an error. */
export function endRequestTrace(trace: RequestTrace, status: number | null): void {
  trace.end({
    errorType: status !== null && status >= FIRST_SERVER_ERROR ? String(status) : null,
    attributes: status === null ? {} : { 'http.response.status_code': status },
  });
}
