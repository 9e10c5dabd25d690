import type { GraphQLError } from 'graphql';
import { requestError } from '../schema/public-error.ts';

/** One operation as a client sent it, by whichever door. */
export interface GraphQLRequest {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Parameters come as JSON of any shape: what they are is checked once, for every transport. */
export function readRequest(params: unknown): GraphQLRequest | GraphQLError {
  if (!isObject(params)) return requestError('GRAPHQL_PARSE_FAILED', 'The request is one object.');
  const { query, operationName, variables, extensions } = params;
  if (typeof query !== 'string' || query.trim() === '') {
    return requestError('GRAPHQL_PARSE_FAILED', '`query` is the text of a document.');
  }
  if (operationName != null && typeof operationName !== 'string') {
    return requestError('GRAPHQL_PARSE_FAILED', '`operationName` is a text.');
  }
  if (variables != null && !isObject(variables)) {
    return requestError('GRAPHQL_PARSE_FAILED', '`variables` is an object.');
  }
  if (extensions != null && !isObject(extensions)) {
    return requestError('GRAPHQL_PARSE_FAILED', '`extensions` is an object.');
  }
  // An empty name comes from tools that always send the field.
  return { query, operationName: operationName || null, variables: variables ?? {} };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
