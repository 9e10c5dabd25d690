import { GraphQLError } from 'graphql';
import { ERROR_CODES } from '../../lib/error-codes.ts';

// The time in which some of the client's concurrent operations are likely to end.
const CONCURRENCY_RETRY_SECONDS = 5;

/** The answer if nothing is executed, because the request is wrong or its client is over a limit. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly errors: readonly GraphQLError[];
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the request conforms to the protocol, so that only its document or its variables are wrong. */
  readonly isWellFormed: boolean;
}

export function refused(
  errors: readonly GraphQLError[],
  status = 400,
  headers: Readonly<Record<string, string>> = {},
): Refusal {
  return { kind: 'refusal', errors, status, headers, isWellFormed: true };
}

/** `RATE_LIMITED` by a limit of this service. The name of the limit is for operators, and not part of the answer. */
class OverLimitError extends GraphQLError {
  readonly limit: string;

  constructor(limit: string, retryAfter: number) {
    const { retryable } = ERROR_CODES.RATE_LIMITED;
    super('Too many requests: wait a moment.', {
      extensions: { code: 'RATE_LIMITED', retryable, retryAfter },
    });
    this.limit = limit;
  }
}

/** Refuses the whole request, with the seconds after which to retry. */
export function overLimit(limit: string, seconds = CONCURRENCY_RETRY_SECONDS): Refusal {
  const error = new OverLimitError(limit, seconds);
  return refused([error], 429, { 'retry-after': String(seconds) });
}

/** Marks the errors of a request that may be a mutation: nothing of the request was executed. */
export function markNotSent(errors: readonly GraphQLError[]): void {
  for (const { extensions } of errors) extensions.sent = false;
}

/** Adds the headers that every response to this request has. */
export function withHeaders(refusal: Refusal, headers: Refusal['headers']): Refusal {
  return { ...refusal, headers: { ...headers, ...refusal.headers } };
}
