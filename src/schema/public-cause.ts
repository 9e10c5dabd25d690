import { GraphQLError, isValueNode } from 'graphql';
import { wasNotSent } from '../domain/trading/order-errors.ts';
import { type Attribution, type Code, ERROR_CODES, type PublicCause } from '../lib/error-codes.ts';
import { PublicError, type Shown } from '../lib/public-error.ts';

const INTERNAL: Shown = { code: 'INTERNAL', message: 'Something went wrong here.' };

export function publicCause(cause: unknown): PublicCause {
  const { code, message, more } = shownOf(cause);
  const unsent = cause instanceof Error && wasNotSent(cause) ? { sent: false } : {};
  const extensions = { code, retryable: ERROR_CODES[code].retryable, ...more, ...unsent };
  return { message, extensions, outcome: outcomeOf(code, extensions) };
}

function shownOf(error: unknown): Shown {
  if (error instanceof PublicError) return error.shown;
  // Validation accepts a nullable variable with a default. An explicit null then fails its field.
  const isNullVariable = error instanceof GraphQLError && error.nodes?.some(isValueNode);
  return isNullVariable
    ? { code: 'BAD_USER_INPUT', message: 'A variable is null where a value is needed.' }
    : INTERNAL;
}

/**
 * The gateway's own rate limit is attributed to the service, not to the caller. If the records do not reach back to a
 * key, that is a refusal and not a fault, because any client can ask about an old key.
 */
function outcomeOf(
  code: Code,
  { operation, retryable }: Readonly<Record<string, unknown>>,
): Attribution {
  if (code === 'RATE_LIMITED' && operation !== undefined) return 'fault';
  if (code === 'IDEMPOTENCY_UNAVAILABLE' && !retryable) return 'refused';
  // Without a call of the gateway the token's key is unknown. Anyone can invent such a token.
  if (code === 'GATEWAY_UNAVAILABLE' && operation === undefined) return 'refused';
  return ERROR_CODES[code].outcome;
}
