import { GraphQLError } from 'graphql';
import { ERROR_CODES } from '../../lib/error-codes.ts';
import { type Refusal, refused } from './refusal.ts';

// The time in which some of the client's concurrent operations are likely to end.
const CONCURRENCY_RETRY_SECONDS = 5;

/** `RATE_LIMITED` by a limit of this service. The name of the limit is for operators, and not part of the answer. */
export class OverLimitError extends GraphQLError {
  readonly limit: string;

  constructor(limit: string, retryAfter = CONCURRENCY_RETRY_SECONDS) {
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
