import type { GraphQLError } from 'graphql';
import { requestError } from '../schema/public-error.ts';
import { waiting } from './limits/request-quota.ts';

/** One operation as a client sent it over any transport: with a document, its id, or both. */
export interface GraphQLRequest {
  readonly text: string | null;
  readonly id: string | null;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Nothing was executed: the request itself is at fault. */
export interface Refused {
  readonly ready: false;
  readonly status: number;
  /** True for a request that conforms to the protocol and whose document or variables are wrong. */
  readonly isWellFormed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly GraphQLError[];
}

const LONGEST_ID = 512;
const PREFIX = 'sha256:';
const SHA256 = /^[0-9a-f]{64}$/i;
// A client at the limit has to close a subscription before it can open another.
// Until then a part of the clients has gone elsewhere, and garbage was collected.
export const MEMORY_RETRY_SECONDS = 10;
const SUBSCRIPTIONS_RETRY_SECONDS = 5;

/** Parameters are JSON of any shape, so they are checked once, for every transport. */
export function readRequest(params: unknown): GraphQLRequest | GraphQLError {
  if (!isObject(params)) return malformed('The request is one object.');
  const { query, operationName, variables, extensions } = params;
  if (operationName != null && typeof operationName !== 'string') {
    return malformed('`operationName` is a text.');
  }
  if (variables != null && !isObject(variables)) return malformed('`variables` is an object.');
  if (extensions != null && !isObject(extensions)) return malformed('`extensions` is an object.');
  const id = readId(params.documentId, extensions?.persistedQuery);
  if (id !== null && typeof id !== 'string') return id;
  const text = typeof query === 'string' && query.trim() !== '' ? query : null;
  // With an id, an empty text counts as none: some protocols require the field.
  if (text === null && (id === null || (query != null && query !== ''))) {
    return malformed('`query` is the text of a document.');
  }
  // Some tools always send the field, and leave it empty.
  return { text, id, operationName: operationName || null, variables: variables ?? {} };
}

function readId(id: unknown, persisted: unknown): string | GraphQLError | null {
  if (id != null && typeof id !== 'string') return malformed('`documentId` is a text.');
  if (persisted == null) return checked(id || null);
  if (!isObject(persisted) || typeof persisted.sha256Hash !== 'string') {
    return malformed('`extensions.persistedQuery` has a `sha256Hash`.');
  }
  const { version = 1, sha256Hash } = persisted;
  if (version !== 1) return malformed('`extensions.persistedQuery` is of version 1.');
  if (id && documentId(id) !== documentId(sha256Hash)) {
    return malformed('`documentId` and `sha256Hash` name the same document.');
  }
  return checked(sha256Hash);
}

function checked(id: string | null): string | GraphQLError | null {
  if (id === null) return null;
  return id.length > 0 && id.length <= LONGEST_ID
    ? documentId(id)
    : malformed(`An id has 1 to ${LONGEST_ID} characters.`);
}

/** Normalizes an id: hashes are sent with and without the name of their method, in either case. */
export function documentId(given: string): string {
  const bare = given.startsWith(PREFIX) ? given.slice(PREFIX.length) : given;
  return SHA256.test(bare) ? bare.toLowerCase() : given;
}

export function refused(errors: readonly GraphQLError[], status = 400): Refused {
  return { ready: false, status, isWellFormed: true, headers: {}, errors };
}

/** Memory is short: what holds little of it is still served. */
export function memoryIsShort(): Refused {
  const { error, headers } = waiting(MEMORY_RETRY_SECONDS, 'memory');
  return { ...refused([error], 503), headers };
}

export function tooManySubscriptions(): Refused {
  const { error, headers } = waiting(SUBSCRIPTIONS_RETRY_SECONDS, 'subscriptions');
  return { ...refused([error], 429), headers };
}

function malformed(message: string): GraphQLError {
  return requestError('GRAPHQL_PARSE_FAILED', message);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
