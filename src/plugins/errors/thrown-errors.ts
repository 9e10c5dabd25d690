import { GraphQLError } from 'graphql';
import { requestError } from '../../schema/public-error.ts';
import { type Refusal, refused } from '../refusal.ts';

/** The refusal that another plugin means by an error that it throws or finds; null for a fault. */
export function refusalOf(error: unknown): Refusal | null {
  const errors = listOf(error);
  if (errors.length === 0) return null;
  const statuses = errors.map(({ extensions }) => httpOf(extensions).status ?? 200);
  return refused(errors.map(coded), Math.max(...statuses));
}

/** Adds our error codes to an error that has none of them. */
export function coded(error: GraphQLError): GraphQLError {
  if (error.extensions.retryable !== undefined) return error;
  return requestError('GRAPHQL_VALIDATION_FAILED', error.message);
}

export function httpOf(extensions: GraphQLError['extensions']): {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
} {
  return extensions.http ?? {};
}

function listOf(error: unknown): readonly GraphQLError[] {
  if (error instanceof GraphQLError) return [error];
  return error instanceof AggregateError
    ? error.errors.filter((each) => each instanceof GraphQLError)
    : [];
}
