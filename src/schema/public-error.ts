import { GraphQLError, isValueNode } from 'graphql';
import {
  NoGroupError,
  TokenEndedError,
  UnauthenticatedError,
  UnknownKeyError,
} from '../domain/auth/token-errors.ts';
import { TooManyAttemptsError } from '../domain/auth/trading-limits.ts';
import {
  KeyNotVoidedError,
  UnprovedOrderError,
  wasNotSent,
} from '../domain/trading/order-errors.ts';
import {
  GatewayError,
  type GatewayErrorKind,
  NotAttemptedError,
  refusalWords,
  UnsafePathError,
} from '../gateway/gateway-error.ts';
import { isOperation, OPERATIONS } from '../gateway/operations.ts';
import { type Attribution, type Code, ERROR_CODES, type PublicCause } from '../lib/error-codes.ts';
import { InputError } from '../lib/input-error.ts';
import {
  AccountRecordsFullError,
  KeyTooOldError,
  RecordsUnavailableError,
} from '../store/refusals.ts';
import { NotInEventsError } from './scope.ts';

interface Described {
  readonly code: Code;
  readonly message: string;
  readonly more?: Extensions | undefined;
}

type Extensions = Readonly<Record<string, unknown>>;

const EARLIER_UNKNOWN =
  'This request was not sent. It is unknown whether an earlier request with its key was sent: ask again with the same key, and use no other.';
/** For a key that is older than the records: no repeat can find out what became of it. */
const KEY_TOO_OLD =
  'This request was not sent. If you have sent this key before, that order may have traded: do not place it again.';
const NEVER_SENT = 'This request was not sent, and no earlier one with its key is recorded.';
const TOO_MANY_ORDERS =
  'This request was not sent: this account has placed too many orders in a day.';
/** Reasons for which this service itself did not send an order, with `retryAfter` in seconds. */
const UNSENT_ORDERS: Readonly<Record<string, readonly [message: string, retryAfter?: number]>> = {
  held: ['Orders are held back for now: this request was not sent.'],
  // While the circuit breaker is open, one order is sent every 5 seconds as a probe.
  circuit: ['The gateway has just answered no order: this one was not sent.', 5],
  busy: ['The gateway is still busy with other orders: this one was not sent.', 1],
};
const INTERNAL: Described = { code: 'INTERNAL', message: 'Something went wrong here.' };

type ErrorClass<E> = abstract new (...given: never[]) => E;
type Describe = (error: never) => Described;
type Row = readonly [errorClass: unknown, describe: Describe];

/** Clients see only the messages listed here. */
const DESCRIPTIONS = new Map<unknown, Describe>([
  row(InputError, ({ argument, message }) => ({
    code: 'BAD_USER_INPUT',
    message,
    more: { argument },
  })),
  row(UnauthenticatedError, ({ message }) => ({
    code: 'UNAUTHENTICATED',
    message: `Sign in: ${message}.`,
  })),
  row(UnknownKeyError, ({ retryAfterSeconds }) => ({
    code: 'GATEWAY_UNAVAILABLE',
    message: 'The key of the token is not known yet: try again.',
    more: retryAfterSeconds === null ? {} : { retryAfter: retryAfterSeconds },
  })),
  row(TokenEndedError, ({ code, cause }) =>
    // The gateway may give a reason, such as a restricted account, which the user must see.
    cause instanceof GatewayError
      ? describeGateway(cause)
      : {
          code,
          message: code === 'FORBIDDEN' ? 'The gateway does not allow this.' : 'Sign in again.',
        },
  ),
  row(NotInEventsError, () => ({
    code: 'BAD_USER_INPUT',
    message: 'This subscription does not have that: ask for it in a query.',
  })),
  row(TooManyAttemptsError, ({ retryAfterSeconds }) => ({
    code: 'RATE_LIMITED',
    message: 'Too many attempts: wait a moment.',
    more: { retryAfter: retryAfterSeconds },
  })),
  row(KeyNotVoidedError, ({ cause }) => {
    const { code, more = {} } = describe(cause);
    const message = 'It is unknown whether the key is closed.';
    // Clients would take `retryable: false` as a sign that the key is closed.
    return { code, message, more: { ...more, retryable: true, earlierUnknown: true } };
  }),
  row(AccountRecordsFullError, () =>
    withoutRecords(TOO_MANY_ORDERS, { limit: 'ORDER_RECORDS_PER_ACCOUNT', retryable: false }),
  ),
  row(KeyTooOldError, () =>
    withoutRecords(KEY_TOO_OLD, { retryable: false, earlierUnknown: true }),
  ),
  row(RecordsUnavailableError, ({ earlierUnknown }) =>
    earlierUnknown
      ? withoutRecords(EARLIER_UNKNOWN, { earlierUnknown })
      : withoutRecords(NEVER_SENT),
  ),
  row(NoGroupError, () => ({ code: 'FORBIDDEN', message: 'This account has no catalog.' })),
  row(UnsafePathError, describePath),
  row(UnprovedOrderError, (error) => {
    const { more, ...described } = describeGateway(error);
    return { ...described, more: { ...more, earlierUnknown: true } };
  }),
  row(GatewayError, describeGateway),
  row(GraphQLError, ({ nodes }) =>
    // Validation accepts a nullable variable with a default. An explicit null then fails its field.
    nodes?.some(isValueNode)
      ? { code: 'BAD_USER_INPUT', message: 'A variable is null where a value is needed.' }
      : INTERNAL,
  ),
]);

/** Describes the errors of a class, and of its subclasses without a row. */
function row<E>(errorClass: ErrorClass<E>, describe: (error: E) => Described): Row {
  return [errorClass, describe];
}

/** Describes an error for clients. An error without a row is INTERNAL; its message appears only in the log. */
function describe(error: unknown): Described {
  if (!(error instanceof Error)) return INTERNAL;
  // Looks for the row of the error's class, then of its superclasses.
  for (let proto = Object.getPrototypeOf(error); proto; proto = Object.getPrototypeOf(proto)) {
    const description = DESCRIPTIONS.get(proto.constructor);
    if (description === undefined) continue;
    const described = description(error as never);
    if (!wasNotSent(error)) return described;
    return { ...described, more: { ...described.more, sent: false } };
  }
  return INTERNAL;
}

function withoutRecords(message: string, more?: Extensions): Described {
  return { code: 'IDEMPOTENCY_UNAVAILABLE', message, more };
}

function describePath({ argument }: UnsafePathError): Described {
  if (argument === null) {
    return { code: 'UNAUTHENTICATED', message: 'Sign in: the token cannot be used.' };
  }
  const message = `${argument} cannot be one segment of a path.`;
  return { code: 'BAD_USER_INPUT', message, more: { argument } };
}

const OF_KIND: Readonly<Record<GatewayErrorKind, readonly [code: Code, message: string]>> = {
  unauthenticated: ['UNAUTHENTICATED', 'The gateway does not accept the token.'],
  forbidden: ['FORBIDDEN', 'The gateway does not allow this.'],
  'rate-limited': ['RATE_LIMITED', 'The gateway asks for a pause.'],
  refused: ['GATEWAY_REFUSED', 'The gateway refused this.'],
  unavailable: ['GATEWAY_UNAVAILABLE', 'The gateway cannot be reached.'],
  unknown: [
    'OUTCOME_UNKNOWN',
    'The gateway gave no readable answer: this may have been done or not.',
  ],
  timeout: ['GATEWAY_TIMEOUT', 'The gateway did not answer in time.'],
  contract: ['GATEWAY_CONTRACT', 'The gateway gave an answer outside its interface.'],
};

/** The codes that a gateway call can cause. The error's `operation` then names the call. */
export const CODES_OF_CALLS: ReadonlySet<Code> = new Set(
  Object.values(OF_KIND).map(([code]) => code),
);

// The pause if `Retry-After` is absent or shorter.
const MIN_RETRY_AFTER_SECONDS = 1;

function describeGateway(error: GatewayError): Described {
  const [code, messageOfKind] = OF_KIND[error.kind];
  const { refusal, cause } = error;
  const operation = isOperation(error.operation) ? OPERATIONS[error.operation] : null;
  const isUnsentOrder = operation?.effect === 'order' && cause instanceof NotAttemptedError;
  const unsent = isUnsentOrder ? UNSENT_ORDERS[cause.reason] : undefined;
  const message = unsent?.[0] ?? messageOfKind;
  const retryAfterSeconds = unsent?.[1] ?? error.retryAfterSeconds;
  const hasRetryAfter = code === 'RATE_LIMITED' || retryAfterSeconds !== null;
  const words = refusal !== null && hasWordsForClients(code, error) ? refusalWords(refusal) : null;
  return {
    code,
    message,
    more: {
      operation: error.operation,
      ...(code === 'OUTCOME_UNKNOWN' && { retryable: operation?.isIdempotent ?? false }),
      ...(hasRetryAfter && {
        retryAfter: Math.max(MIN_RETRY_AFTER_SECONDS, retryAfterSeconds ?? 0),
      }),
      ...(words !== null && { gatewayError: words }),
    },
  };
}

const CODES_WITH_WORDS: ReadonlySet<Code> = new Set([
  'FORBIDDEN',
  'RATE_LIMITED',
  'GATEWAY_REFUSED',
  'GATEWAY_UNAVAILABLE',
]);

/** Users see the gateway's words about a restricted account or maintenance (503), but no words of another 5xx status. */
function hasWordsForClients(code: Code, { status }: GatewayError): boolean {
  return CODES_WITH_WORDS.has(code) && (code !== 'GATEWAY_UNAVAILABLE' || status === 503);
}

/** Describes a failure for clients and metrics. */
export function publicCause(cause: unknown): PublicCause {
  const { code, message, more } = describe(cause);
  const extensions = { code, retryable: ERROR_CODES[code].retryable, ...more };
  return { message, extensions, outcome: outcomeOf(code, extensions) };
}

/**
 * The gateway's own rate limit is attributed to the service, not to the caller. If the records do not reach back to a
 * key, that is a refusal and not a fault, because any client can ask about an old key.
 */
function outcomeOf(code: Code, { operation, retryable }: Extensions): Attribution {
  if (code === 'RATE_LIMITED' && operation !== undefined) return 'fault';
  if (code === 'IDEMPOTENCY_UNAVAILABLE' && !retryable) return 'refused';
  // Without a call of the gateway the token's key is unknown. Anyone can invent such a token.
  if (code === 'GATEWAY_UNAVAILABLE' && operation === undefined) return 'refused';
  return ERROR_CODES[code].outcome;
}
