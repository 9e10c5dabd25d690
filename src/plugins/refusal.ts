import type { GraphQLError } from 'graphql';

/** Why nothing is executed: the request itself is at fault, or its client is over a limit. */
export interface Refusal {
  readonly errors: readonly GraphQLError[];
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** True for a request that conforms to the protocol and whose document or variables are wrong. */
  readonly isWellFormed: boolean;
}

export function refused(
  errors: readonly GraphQLError[],
  status = 400,
  headers: Readonly<Record<string, string>> = {},
): Refusal {
  return { errors, status, headers, isWellFormed: true };
}
