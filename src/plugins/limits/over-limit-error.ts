import { GraphQLError } from 'graphql';
import { publicExtensions } from '../../schema/public-error.ts';
import { type Refusal, refused } from '../refusal.ts';

interface LimitedBy {
  /** The limit's name for operators; it is no part of the answer. */
  readonly limit: string;
  readonly retryAfterSeconds: number;
}

/** `RATE_LIMITED` by a limit of this service. */
export class OverLimitError extends GraphQLError {
  readonly limit: string;

  constructor({ limit, retryAfterSeconds }: LimitedBy) {
    const message = 'Too many requests: wait a moment.';
    const more = { retryAfter: retryAfterSeconds };
    super(message, { extensions: publicExtensions({ code: 'RATE_LIMITED', message, more }) });
    this.limit = limit;
  }
}

/** Refuses the whole request, with the seconds after which to retry. */
export function overLimit(limit: string, retryAfterSeconds: number): Refusal {
  const error = new OverLimitError({ limit, retryAfterSeconds });
  return refused([error], 429, { 'retry-after': String(retryAfterSeconds) });
}
