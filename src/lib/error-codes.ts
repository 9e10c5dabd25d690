/** Every code that `extensions.code` of an error can have; `docs/errors.md` is printed from this table. */
export interface ErrorCode {
  /** True when the same request may succeed if it is repeated, and repeating it does no harm. */
  readonly retryable: boolean;
  readonly outcome: Attribution;
  readonly cause: string;
  /** The instruction for a client's developer. */
  readonly advice: string;
  /** A message that can be shown to the user unchanged. */
  readonly show: string;
  /** The message in another case, named by its key. */
  readonly showInstead?: Readonly<Record<string, string>>;
  /**
   * What a client knows about a write whose field or request failed with this code: this request did not carry it out
   * (`none`), its outcome is unknown (`unknown`), or writes never fail with this code (`never`).
   */
  readonly write: 'none' | 'unknown' | 'never';
}

const BY_THE_CALLER = { retryable: false, write: 'none', outcome: 'caller' } as const;
export const APP_IS_WRONG = 'Something is wrong with this app. Please update it.';
const BY_THE_APP = { ...BY_THE_CALLER, show: APP_IS_WRONG } as const;

export const ERROR_CODES = {
  GRAPHQL_PARSE_FAILED: {
    cause: 'The document is missing, or not valid GraphQL.',
    advice: 'Fix it.',
    ...BY_THE_APP,
  },
  GRAPHQL_VALIDATION_FAILED: {
    cause: 'The document does not match the schema.',
    advice: 'Compare it with `schema.graphql`.',
    ...BY_THE_APP,
  },
  NOT_ACCEPTABLE: {
    cause: 'The `Accept` header allows no media type that the server can answer with.',
    advice: 'Send an `Accept` header with one that the message names.',
    ...BY_THE_APP,
  },
  BATCHING_NOT_SUPPORTED: {
    cause: 'The request is a list of operations.',
    advice: 'Send each operation by itself.',
    ...BY_THE_APP,
  },
  BAD_USER_INPUT: {
    cause:
      'A variable or an argument (`extensions.argument`) is outside its allowed range, or a number that a double cannot represent exactly.',
    advice: 'Correct the value; in a form, show the message at its field.',
    show: 'Please check what you have entered.',
    ...BY_THE_CALLER,
  },
  UNAUTHENTICATED: {
    cause:
      'The token is missing, unreadable, expired, or refused by the gateway. The HTTP status is 200; if it ends a subscription, the WebSocket is closed with 4403.',
    advice: 'With a new token the request may be sent again.',
    show: 'Please sign in again.',
    ...BY_THE_CALLER,
  },
  FORBIDDEN: {
    cause:
      'The gateway does not allow this user to do it (`extensions.gatewayError` may have the reason), or (HTTP 403) a page of another site sent the request.',
    advice: 'Show `gatewayError.message` too.',
    show: 'You cannot do this.',
    ...BY_THE_CALLER,
  },
  RATE_LIMITED: {
    cause:
      'Too many requests, as counted by this service (HTTP 429, except over a socket) or by the gateway.',
    retryable: true,
    advice: 'Wait `extensions.retryAfter` seconds first.',
    show: 'Please wait a moment.',
    write: 'none',
    outcome: 'refused',
  },
  GATEWAY_UNAVAILABLE: {
    cause:
      'The gateway could not be reached or failed; or an order was not sent, because operators hold orders, the gateway answers no orders, or no connection was free; or the key of the token is not known yet (`JWT_JWKS_URL`). A notice of maintenance (its 503 with an error body) is in `extensions.gatewayError`.',
    retryable: true,
    advice:
      'Back off exponentially, not before `extensions.retryAfter` seconds; show `gatewayError.message` too.',
    show: 'The service cannot be reached. Trying again…',
    write: 'none',
    outcome: 'fault',
  },
  GATEWAY_TIMEOUT: {
    cause: 'The gateway did not answer a read or a sign-in in time.',
    retryable: true,
    advice: 'Back off exponentially.',
    show: 'This takes longer than usual. Trying again…',
    write: 'never',
    outcome: 'fault',
  },
  GATEWAY_REFUSED: {
    cause: 'The gateway refused a read; `extensions.gatewayError` has the reason.',
    retryable: false,
    advice: 'Show `gatewayError.message`.',
    show: 'This cannot be shown.',
    write: 'never',
    outcome: 'caller',
  },
  GATEWAY_CONTRACT: {
    cause: 'The gateway’s answer does not match its interface, so it was not used.',
    retryable: false,
    advice: 'Report the error.',
    show: 'This part cannot be shown at the moment.',
    write: 'never',
    outcome: 'fault',
  },
  OUTCOME_UNKNOWN: {
    cause: 'A write was sent, and no readable answer was received.',
    retryable: false,
    advice:
      'It is true for `setValue`, `markNotificationsRead` and `registerDevice`. Before you repeat any other write, find out whether it was carried out.',
    show: 'We do not know yet whether this went through. Please check before trying again.',
    write: 'unknown',
    outcome: 'fault',
  },
  IDEMPOTENCY_UNAVAILABLE: {
    cause:
      'This request sent no order: the order records are full, out of reach, or may lack this key. The fields of `extensions` say more:\n\n- `earlierUnknown`: an earlier request with this key may have placed the order. Without it no earlier request with this key is recorded.\n- `limit`: this account has placed too many orders or closed too many keys within a day.\n- `retryable: false` with `earlierUnknown`: the order records do not reach back to the time of the key. The outcome of an earlier request with it stays unknown; `voidOrder` has closed the key.\n\nWhat to do:',
    retryable: true,
    advice:
      'Use the same idempotency key, and with `earlierUnknown` no other. With `limit` try again the next day. With `retryable: false` look at the positions and orders, or ask the broker.',
    show: 'We cannot say at the moment whether your order was placed. We keep asking…',
    showInstead: { 'without `earlierUnknown`': 'Your order was not placed. Please try again.' },
    write: 'none',
    outcome: 'fault',
  },
  QUERY_TOO_COMPLEX: {
    cause:
      'The request exceeds a [limit](limits.md#what-a-document-may-hold): `extensions` has the `limit`’s name, the `value` of the request and the `maximum`.',
    advice: 'Ask for less in one request.',
    ...BY_THE_APP,
  },
  PERSISTED_DOCUMENT_REQUIRED: {
    cause: 'This server answers trusted documents only.',
    advice: 'Send the id of a document from the manifest.',
    ...BY_THE_APP,
  },
  PERSISTED_DOCUMENT_NOT_FOUND: {
    cause: 'No document is known under the id or hash that was sent, and the request has no text.',
    advice:
      'Add the document to the manifest, or send its text; this server remembers no text under its hash.',
    ...BY_THE_APP,
  },
  PAYLOAD_TOO_LARGE: {
    cause: 'The body of the request is larger than the server reads.',
    advice: 'Send less.',
    ...BY_THE_APP,
  },
  INTERNAL: {
    cause: 'A fault of this service. Its log has the cause under `extensions.requestId`.',
    retryable: false,
    advice:
      'Report the `requestId`. But send an order again at once, with the same key, although `retryable` is false: the key keeps it from being placed twice.',
    show: 'Something went wrong on our side.',
    write: 'unknown',
    outcome: 'fault',
  },
} as const satisfies Record<string, ErrorCode>;

export type Code = keyof typeof ERROR_CODES;

/** The row of a code; undefined for a code of a plugin or a resolver. */
export function errorCodeOf(code: unknown): ErrorCode | undefined {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code)
    ? ERROR_CODES[code as Code]
    : undefined;
}

/** The side to which metrics attribute a failure: the caller, a limit of this service, or a fault of the service. */
export type Attribution = 'caller' | 'refused' | 'fault';

/** The part of a failure that clients see, and its attribution for metrics. */
export interface PublicCause {
  readonly message: string;
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly outcome?: Attribution;
}
