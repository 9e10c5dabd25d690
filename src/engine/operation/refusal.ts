import type { GraphQLError } from 'graphql';

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

/** Marks the errors of a possible mutation: nothing of it was executed. */
export function markNotSent(errors: readonly GraphQLError[]): void {
  for (const { extensions } of errors) extensions.sent = false;
}

/** Adds the headers that every response to this request has. */
export function withHeaders(refusal: Refusal, headers: Refusal['headers']): Refusal {
  return { ...refusal, headers: { ...headers, ...refusal.headers } };
}

/** Distinguishes a refusal from a result, which is GraphQL's own object and has no kind. */
export function isRefusal(outcome: object): outcome is Refusal {
  return (outcome as Partial<Refusal>).kind === 'refusal';
}
