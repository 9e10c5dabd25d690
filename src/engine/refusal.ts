import type { GraphQLError } from 'graphql';
import { waiting } from './request-quota.ts';

/** Nothing was executed: the request itself is at fault. */
export interface Refused {
  readonly ready: false;
  readonly status: number;
  /** True for a request that conforms to the protocol and whose document or variables are wrong. */
  readonly isWellFormed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly GraphQLError[];
}

// A client at the limit has to close a subscription before it can open another.
const SUBSCRIPTIONS_RETRY_SECONDS = 5;

export function refused(errors: readonly GraphQLError[], status = 400): Refused {
  return { ready: false, status, isWellFormed: true, headers: {}, errors };
}

export function tooManySubscriptions(): Refused {
  const { error, headers } = waiting(SUBSCRIPTIONS_RETRY_SECONDS);
  return { ...refused([error], 429), headers };
}
