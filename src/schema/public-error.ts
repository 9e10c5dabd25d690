import { GraphQLError, isValueNode } from 'graphql';
import type { Attribution } from '../../engine/operation/codes.ts';
import type { PublicCause } from '../../engine/operation/error-codes.ts';
import { TooManyAttemptsError, UnauthenticatedError } from '../domain/auth/errors.ts';
import { NoGroupError } from '../domain/catalog/group-prover.ts';
import { InputError } from '../domain/input-error.ts';
import { NotInEventsError } from '../domain/positions/not-in-events-error.ts';
import { TokenEndedError } from '../domain/positions/token-ended-error.ts';
import {
  KeyForgottenError,
  KeyNotVoidedError,
  UnprovedOrderError,
} from '../domain/trading/order-errors.ts';
import {
  GatewayError,
  type GatewayErrorKind,
  NotAttemptedError,
  UnsafePathError,
} from '../gateway/errors.ts';
import { isOperation, OPERATIONS } from '../gateway/operations.ts';
import { refusalWords } from '../gateway/wire/bodies.ts';
import { AccountRecordsFullError, RecordsUnavailableError } from '../store/order-records.ts';
import { type Code, ERROR_CODES } from './error-codes.ts';

interface PublicExtensions extends Record<string, unknown> {
  readonly code: Code;
  readonly retryable: boolean;
}

interface Described {
  readonly code: Code;
  readonly message: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

/**
 * Describes an error for clients. Only messages listed here are passed on: an unrecognised error is
 * INTERNAL, and its own message stays in the log.
 */
export function describe(error: unknown): Described {
  if (error instanceof InputError) {
    const more = { argument: error.argument };
    return { code: 'BAD_USER_INPUT', message: error.message, more };
  }
  if (error instanceof UnauthenticatedError) {
    return { code: 'UNAUTHENTICATED', message: `Sign in: ${error.message}.` };
  }
  if (error instanceof TokenEndedError) {
    // The gateway may have given a reason: a user must learn that the account is restricted.
    if (error.cause instanceof GatewayError) return describeGateway(error.cause);
    const message =
      error.code === 'FORBIDDEN' ? 'The gateway does not allow this.' : 'Sign in again.';
    return { code: error.code, message };
  }
  if (error instanceof NotInEventsError) {
    const message = 'This subscription does not have that: ask for it in a query.';
    return { code: 'BAD_USER_INPUT', message };
  }
  if (error instanceof TooManyAttemptsError) {
    const more = { retryAfter: error.retryAfterSeconds };
    return { code: 'RATE_LIMITED', message: 'Too many attempts: wait a moment.', more };
  }
  if (error instanceof KeyNotVoidedError) {
    const { code, more = {} } = describe(error.cause);
    const message = 'It cannot be said that the key is closed.';
    // One that may not be repeated would mean that it is closed.
    return { code, message, more: { ...more, retryable: true, earlierUnknown: true } };
  }
  if (error instanceof KeyForgottenError) {
    return {
      code: 'IDEMPOTENCY_UNAVAILABLE',
      message: 'The key is closed. Whether an order had it before is not known any more.',
      // The records of that time do not come back.
      more: { retryable: false, earlierUnknown: true },
    };
  }
  if (error instanceof AccountRecordsFullError) {
    return {
      code: 'IDEMPOTENCY_UNAVAILABLE',
      message: `This request was not sent: this ${error.whose === 'token' ? 'sign-in' : 'account'} has placed too many orders in a day.`,
      more: {
        ...{ limit: 'ORDER_RECORDS_PER_ACCOUNT', retryAfter: error.retryAfterSeconds },
        // Hours are no moment to wait for.
        retryable: false,
      },
    };
  }
  if (error instanceof RecordsUnavailableError) {
    const code = 'IDEMPOTENCY_UNAVAILABLE';
    return error.earlierUnknown
      ? { code, message: EARLIER_UNKNOWN, more: { earlierUnknown: true } }
      : {
          code,
          message: 'This request was not sent, and no earlier one with its key is recorded.',
        };
  }
  if (error instanceof NoGroupError) {
    return { code: 'FORBIDDEN', message: 'This account has no catalog.' };
  }
  if (error instanceof UnsafePathError) return describePath(error);
  if (error instanceof GatewayError) return describeGateway(error);
  if (error instanceof GraphQLError && error.nodes?.some(isValueNode)) {
    // Validation lets a nullable variable pass where it has a default; a null then fails its field.
    return { code: 'BAD_USER_INPUT', message: 'A variable is null where a value is needed.' };
  }
  return INTERNAL;
}

const EARLIER_UNKNOWN =
  'This request was not sent. Whether an earlier one with its key was is not known: ask `placedOrder`, do not use another key.';

const INTERNAL: Described = { code: 'INTERNAL', message: 'Something went wrong here.' };

export function publicExtensions({ code, more }: Described): PublicExtensions {
  return { code, retryable: ERROR_CODES[code].retryable, ...more };
}

function describePath({ parameter, source }: UnsafePathError): Described {
  const cannot = 'cannot be one segment of a path';
  if (typeof source === 'object') {
    const { argument } = source;
    return { code: 'BAD_USER_INPUT', message: `${argument} ${cannot}.`, more: { argument } };
  }
  if (source === 'session') {
    // Another token would get the same session: signing in does not help.
    const message = `The session names a ${parameter} that ${cannot}.`;
    return { code: 'GATEWAY_CONTRACT', message, more: { operation: 'getSession' } };
  }
  if (source === 'setting') return INTERNAL;
  return { code: 'UNAUTHENTICATED', message: 'Sign in: the token cannot be used.' };
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

/** The codes that can come from a call of the gateway, which the error's `operation` then names. */
export const CODES_OF_CALLS: ReadonlySet<Code> = new Set(
  Object.values(OF_KIND).map(([code]) => code),
);

// Without `Retry-After`, and where it asks for less: it relieves the gateway and is acceptable to a person.
const SHORTEST_RETRY_AFTER_SECONDS = 1;

function describeGateway(error: GatewayError): Described {
  const [code, ofGateway] = OF_KIND[error.kind];
  // The operations of other backends begin with the backend's name.
  const [service = ''] = error.operation.split('.');
  const message =
    service === error.operation ? ofGateway : ofGateway.replace(/^The gateway/, service);
  const { refusal } = error;
  const words = refusal !== null && hasWordsForClients(code, error) ? refusalWords(refusal) : null;
  return {
    code,
    message,
    more: {
      operation: error.operation,
      ...(error instanceof UnprovedOrderError && { earlierUnknown: true }),
      ...(code === 'OUTCOME_UNKNOWN' && {
        retryable: isOperation(error.operation) && OPERATIONS[error.operation].isIdempotent,
      }),
      ...((code === 'RATE_LIMITED' || error.retryAfterSeconds !== null) && {
        retryAfter: Math.max(SHORTEST_RETRY_AFTER_SECONDS, error.retryAfterSeconds ?? 0),
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

/**
 * A user must be told that the account is restricted, or until when the gateway is maintained (503). What comes with
 * another 5xx is about the gateway's inside, and for the log alone.
 */
function hasWordsForClients(code: Code, { status }: GatewayError): boolean {
  return CODES_WITH_WORDS.has(code) && (code !== 'GATEWAY_UNAVAILABLE' || status === 503);
}

/** Describes a failure for clients, and for operators' figures. */
export function publicCause(cause: unknown): PublicCause {
  const described = describe(cause);
  const extensions = publicExtensions(described);
  const { message, code } = described;
  return { message, extensions, outcome: outcomeOf(code, extensions), reason: reasonOf(cause) };
}

/**
 * A failure of the gateway's own rate limit is the service's fault, not the caller's. That the records do not reach back
 * as far as a key is the answer: anybody can ask for one of long ago.
 */
function outcomeOf(code: Code, { operation, retryable }: PublicExtensions): Attribution {
  if (code === 'RATE_LIMITED' && operation !== undefined) return 'fault';
  if (code === 'IDEMPOTENCY_UNAVAILABLE' && !retryable) return 'refused';
  return ERROR_CODES[code].outcome;
}

/** Why a call of the gateway failed, where its code does not say it. */
function reasonOf(cause: unknown): string | null {
  const before = cause instanceof GatewayError ? cause.cause : null;
  return before instanceof NotAttemptedError && before.reason === 'circuit' ? 'circuit_open' : null;
}
