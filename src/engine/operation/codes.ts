import type { CodeTraits } from '../../lib/error-traits.ts';

const BY_THE_CALLER = { retryable: false, outcome: 'caller' } as const;

/** The codes of requests that are refused before a field of the schema is executed. */
export const REQUEST_CODES = {
  GRAPHQL_PARSE_FAILED: BY_THE_CALLER,
  GRAPHQL_VALIDATION_FAILED: BY_THE_CALLER,
  NOT_ACCEPTABLE: BY_THE_CALLER,
  BATCHING_NOT_SUPPORTED: BY_THE_CALLER,
  BAD_USER_INPUT: BY_THE_CALLER,
  FORBIDDEN: BY_THE_CALLER,
  RATE_LIMITED: { retryable: true, outcome: 'refused' },
  QUERY_TOO_COMPLEX: BY_THE_CALLER,
  PERSISTED_DOCUMENT_REQUIRED: BY_THE_CALLER,
  PERSISTED_DOCUMENT_NOT_FOUND: BY_THE_CALLER,
  PAYLOAD_TOO_LARGE: BY_THE_CALLER,
  INTERNAL: { retryable: false, outcome: 'fault' },
} as const satisfies Record<string, CodeTraits>;

export type RequestCode = keyof typeof REQUEST_CODES;
