import { GraphQLError } from 'graphql';
import { requestError } from '../schema/public-error.ts';

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

/** The refusal that another plugin means by an error that it throws or finds; null for a fault. */
export function refusalOf(error: unknown): Refusal | null {
  const errors = listOf(error);
  if (errors.length === 0) return null;
  const statuses = errors.map(statusOf);
  return refused(errors.map(coded), Math.max(...statuses));
}

/** Adds our error codes to an error that has none of them. */
function coded(error: GraphQLError): GraphQLError {
  if (error.extensions.retryable !== undefined) return error;
  return requestError('GRAPHQL_VALIDATION_FAILED', error.message);
}

function statusOf({ extensions: { http } }: GraphQLError): number {
  return (http as { readonly status?: number } | undefined)?.status ?? 200;
}

function listOf(error: unknown): readonly GraphQLError[] {
  if (error instanceof GraphQLError) return [error];
  return error instanceof AggregateError
    ? error.errors.filter((each) => each instanceof GraphQLError)
    : [];
}
