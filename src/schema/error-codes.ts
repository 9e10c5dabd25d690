import type { CodeTraits } from '../../engine/operation/codes.ts';

/** Every code that `extensions.code` of an error can hold; `docs/errors.md` is printed from this table. */
export interface ErrorCode extends CodeTraits {
  readonly cause: string;
  /** The instruction for a client's developer. */
  readonly advice: string;
  /** A message for the user. */
  readonly show: string;
  /**
   * The certainty about a write, an order included, whose own field or whole request has the code: this request did
   * not carry it out (`none`), nobody knows (`unknown`), or no write ever has it (`never`).
   */
  readonly write: 'none' | 'unknown' | 'never';
}

const BY_THE_CALLER = { retryable: false, write: 'none', outcome: 'caller' } as const;
const BY_THE_APP = {
  ...BY_THE_CALLER,
  show: 'Something is wrong with this app. Please update it.',
} as const;

export const ERROR_CODES = {
  GRAPHQL_PARSE_FAILED: {
    cause: 'The document is not valid GraphQL, or the request has no document.',
    advice: 'Fix the request.',
    ...BY_THE_APP,
  },
  GRAPHQL_VALIDATION_FAILED: {
    cause: 'The document does not match the schema.',
    advice: 'Fix the document; compare it with `schema.graphql`.',
    ...BY_THE_APP,
  },
  NOT_ACCEPTABLE: {
    cause: 'The request accepts no media type of an answer, or a subscription none of a stream.',
    advice: 'Send an `Accept` header with one that the message names.',
    ...BY_THE_APP,
  },
  BATCHING_NOT_SUPPORTED: {
    cause: 'The request is a list of operations.',
    advice:
      'Send each operation by itself: several fields of one operation are the batch of this API.',
    ...BY_THE_APP,
  },
  BAD_USER_INPUT: {
    cause:
      'A variable or an argument is outside what is allowed; `extensions.argument` names it. So is a number that cannot be carried exactly: one that is not finite, or that a double holds with another decimal value.',
    advice: 'Correct the value.',
    show: 'Say beside the field what is wrong with it.',
    ...BY_THE_CALLER,
  },
  UNAUTHENTICATED: {
    cause: 'There is no token, or it is unreadable, expired, or refused by the gateway.',
    advice: 'Sign in again and repeat the request with the new token.',
    show: 'Please sign in again.',
    ...BY_THE_CALLER,
  },
  FORBIDDEN: {
    cause:
      'The gateway does not allow this for this user; its reason, where it gave one, is in `extensions.gatewayError`. Or (HTTP 403) a page of another site sent the request.',
    advice: 'Do not repeat it; show the reason.',
    show: 'You cannot do this. Add `gatewayError.message` where there is one.',
    ...BY_THE_CALLER,
  },
  RATE_LIMITED: {
    cause:
      'Too many requests, counted by the facade or by the gateway; or (HTTP 503) the memory of the facade is short.',
    retryable: true,
    advice: 'Wait `extensions.retryAfter` seconds, then repeat.',
    show: 'Please wait a moment.',
    write: 'none',
    outcome: 'refused',
  },
  GATEWAY_UNAVAILABLE: {
    cause:
      'The gateway could not be reached or failed, or an order was held back and not sent; a notice of maintenance (its 503 with an error body) is in `extensions.gatewayError`.',
    retryable: true,
    advice:
      'Retry with exponential backoff, not before `extensions.retryAfter` seconds where it is there.',
    show: 'The service cannot be reached. Trying again… Add `gatewayError.message` where there is one.',
    write: 'none',
    outcome: 'fault',
  },
  GATEWAY_TIMEOUT: {
    cause: 'The gateway did not answer a read in time.',
    retryable: true,
    advice: 'Retry with exponential backoff.',
    show: 'This takes longer than usual. Trying again…',
    write: 'never',
    outcome: 'fault',
  },
  GATEWAY_REFUSED: {
    cause:
      'The gateway refused a read, and said why in `extensions.gatewayError`: there is no such thing, or it is locked or not possible now.',
    retryable: false,
    advice: 'Do not repeat it at once; show the reason, and the rest of the screen.',
    show: 'This cannot be shown. Add `gatewayError.message` where there is one.',
    write: 'never',
    outcome: 'caller',
  },
  GATEWAY_CONTRACT: {
    cause: 'The gateway’s answer does not match its interface, so it was not used.',
    retryable: false,
    advice: 'Show the rest of the screen, and report the error.',
    show: 'This part cannot be shown at the moment.',
    write: 'never',
    outcome: 'fault',
  },
  OUTCOME_UNKNOWN: {
    cause:
      'A write was sent and no readable answer came back: it may have been carried out or not.',
    retryable: false,
    advice:
      'Look at the result before repeating. Where `extensions.retryable` is true, repeating does no harm.',
    show: 'We do not know yet whether this went through. Please check before trying again.',
    write: 'unknown',
    outcome: 'fault',
  },
  IDEMPOTENCY_UNAVAILABLE: {
    cause:
      'The store of order records is full or out of reach; this request was refused before sending. With `extensions.earlierUnknown` the records could not be read either: whether an earlier request with the key was sent is not known. With `extensions.gap` records may be missing: unknown keys made no later than 60 seconds after its `until` are refused for a day, others are taken. With `extensions.limit` this account alone, or this token of it, has placed too many orders in a day, or closed too many keys. Of `voidOrder` and `placedOrder`: the records cannot say what became of the key; it is closed, and that stays unknown, where `extensions.retryable` is false.',
    retryable: true,
    advice:
      'Repeat with the same idempotency key; where `extensions.retryable` is false after `extensions.retryAfter` seconds, which may be hours, or after signing in again. Do not take a key for unused that is answered with `extensions.earlierUnknown`, and use no other one.',
    show: 'We cannot say at the moment whether your order was placed. We keep asking… Without `earlierUnknown`: your order was not placed, please try again.',
    write: 'none',
    outcome: 'fault',
  },
  QUERY_TOO_COMPLEX: {
    cause:
      'The request exceeds a limit: `extensions.limit` names it, with its `value` and its `maximum`.',
    advice: 'Ask for less in one request.',
    ...BY_THE_APP,
  },
  PERSISTED_DOCUMENT_REQUIRED: {
    cause: 'This server answers trusted documents only.',
    advice: 'Send the id of a document from the manifest.',
    ...BY_THE_APP,
  },
  PERSISTED_DOCUMENT_NOT_FOUND: {
    cause: 'No document is known under the id or hash that was sent.',
    advice: 'Send the document with its hash, or publish the manifest.',
    ...BY_THE_APP,
  },
  PAYLOAD_TOO_LARGE: {
    cause: 'The body of the request is larger than the server reads.',
    advice: 'Send less.',
    ...BY_THE_APP,
  },
  INTERNAL: {
    cause: 'A fault in the facade itself. Its log has the cause under `extensions.requestId`.',
    retryable: false,
    advice: 'Report the `requestId`.',
    show: 'Something went wrong on our side.',
    write: 'unknown',
    outcome: 'fault',
  },
} as const satisfies Record<string, ErrorCode>;

export type Code = keyof typeof ERROR_CODES;
