import type { GraphQLError } from 'graphql';
import { requestError } from '../../operation/request-error.ts';

const CROSS_SITE =
  'A page of another site sent this request: name its origin in CORS_ORIGINS, or send a header that is preflighted, such as apollo-require-preflight.';

export function crossSite(): GraphQLError {
  return requestError('FORBIDDEN', CROSS_SITE);
}

/** No header helps a WebSocket, because a page cannot set one. */
export function foreignSocket(): GraphQLError {
  const message = 'A page of another site opened this WebSocket: name its origin in CORS_ORIGINS.';
  return requestError('FORBIDDEN', message);
}

export function duplicateHeader(): GraphQLError {
  return requestError('GRAPHQL_PARSE_FAILED', 'A forwarded header is sent twice.');
}
