import type { GraphQLError } from 'graphql';

/** The answer where nothing is executed: the request itself is at fault, or its client is over a limit. */
export interface Refusal {
  readonly kind: 'refusal';
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
  return { kind: 'refusal', errors, status, headers, isWellFormed: true };
}

/** Says of what may be a mutation that nothing of it was carried out. */
export function markNotSent(errors: readonly GraphQLError[]): void {
  for (const { extensions } of errors) extensions.sent = false;
}

/** The refusal with headers that the response has in any case. */
export function withHeaders(refusal: Refusal, headers: Refusal['headers']): Refusal {
  return { ...refusal, headers: { ...headers, ...refusal.headers } };
}

/** Distinguishes a refusal from a result, which is GraphQL's own object and has no kind. */
export function isRefusal(outcome: object): outcome is Refusal {
  return (outcome as Partial<Refusal>).kind === 'refusal';
}
