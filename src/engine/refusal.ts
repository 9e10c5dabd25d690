import type { GraphQLError } from 'graphql';
import { waiting } from './request-quota.ts';

/** Nothing was carried out: the request itself is wrong. */
export interface Refused {
  readonly ready: false;
  readonly status: number;
  /** A request as the protocol wants it, whose document or variables are wrong. */
  readonly isWellFormed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly GraphQLError[];
}

// A client that holds this many has to close some before it may have more.
const SUBSCRIPTIONS_RETRY_SECONDS = 5;

export function refused(errors: readonly GraphQLError[], status = 400): Refused {
  return { ready: false, status, isWellFormed: true, headers: {}, errors };
}

export function tooManySubscriptions(): Refused {
  const { error, headers } = waiting(SUBSCRIPTIONS_RETRY_SECONDS);
  return { ...refused([error], 429), headers };
}
