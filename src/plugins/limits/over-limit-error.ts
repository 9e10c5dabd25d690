import { GraphQLError } from 'graphql';
import { publicExtensions } from '../../schema/public-error.ts';
import { type Refusal, refused } from '../refusal.ts';

/** `RATE_LIMITED` by a limit of this service, whose name is for operators and no part of the answer. */
export class OverLimitError extends GraphQLError {
  readonly limit: string;

  constructor(limit: string, retryAfter: number) {
    const message = 'Too many requests: wait a moment.';
    const extensions = publicExtensions({ code: 'RATE_LIMITED', message, more: { retryAfter } });
    super(message, { extensions });
    this.limit = limit;
  }
}

/** Refuses the whole request, with the seconds after which to retry. */
export function overLimit(limit: string, seconds: number): Refusal {
  const error = new OverLimitError(limit, seconds);
  return refused([error], 429, { 'retry-after': String(seconds) });
}
