// Written by `npm run docs` from the code of the server.

/** The server's error codes, and whether a request that failed with the code can succeed if it is repeated. */
export const ERROR_CODES = {
  GRAPHQL_PARSE_FAILED: false,
  GRAPHQL_VALIDATION_FAILED: false,
  NOT_ACCEPTABLE: false,
  BATCHING_NOT_SUPPORTED: false,
  BAD_USER_INPUT: false,
  UNAUTHENTICATED: false,
  FORBIDDEN: false,
  RATE_LIMITED: true,
  GATEWAY_UNAVAILABLE: true,
  GATEWAY_TIMEOUT: true,
  GATEWAY_REFUSED: false,
  GATEWAY_CONTRACT: false,
  OUTCOME_UNKNOWN: false,
  IDEMPOTENCY_UNAVAILABLE: true,
  QUERY_TOO_COMPLEX: false,
  PERSISTED_DOCUMENT_REQUIRED: false,
  PERSISTED_DOCUMENT_NOT_FOUND: false,
  PAYLOAD_TOO_LARGE: false,
  INTERNAL: false,
} as const;

/** A code that the server answers with. */
export type ServerErrorCode = keyof typeof ERROR_CODES;
