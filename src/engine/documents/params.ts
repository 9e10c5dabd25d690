import { isObject } from '../../lib/json.ts';
import { Refusal, requestError, tooComplex } from '../operation/errors.ts';

/** The parameters of GraphQL over HTTP, for every transport: a document, its id, or both. */
export interface Params {
  /** Null if only the id of the document was sent. */
  readonly query: string | null;
  readonly documentId: string | null;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

// The variables of real forms are nested less deeply.
const MAX_DEPTH = 100;
const PREFIX = 'sha256:';
const SHA256 = /^[0-9a-f]{64}$/i;

/** Checks the parameters, which can be JSON of any shape, in one place for every transport. Throws a Refusal. */
export function readParams(sent: unknown): Params {
  if (!isObject(sent)) throw malformed('The request is one object.');
  const { query, operationName, variables, extensions } = sent;
  if (operationName != null && typeof operationName !== 'string') {
    throw malformed('`operationName` is a text.');
  }
  if (variables != null && !isObject(variables)) throw malformed('`variables` is an object.');
  if (extensions != null && !isObject(extensions)) throw malformed('`extensions` is an object.');
  const id = readId(sent.documentId, extensions?.persistedQuery);
  const text = typeof query === 'string' && query.trim() !== '' ? query : null;
  // Beside an id the text may be missing or empty: some protocols require the field.
  const mayLackText = id !== null && (query == null || query === '');
  if (text === null && !mayLackText) throw malformed('`query` is the text of a document.');
  checkDepth(variables ?? {});
  // Some tools always send an `operationName`, and leave it empty.
  return {
    query: text,
    documentId: id,
    operationName: operationName || null,
    variables: variables ?? {},
  };
}

/** Reads `documentId`, or else the hash of Apollo's protocol. An empty id counts as missing. */
function readId(id: unknown, persisted: unknown): string | null {
  if (id != null && typeof id !== 'string') throw malformed('`documentId` is a text.');
  if (id) return documentId(id);
  if (persisted == null) return null;
  if (!isObject(persisted) || typeof persisted.sha256Hash !== 'string') {
    throw malformed('`extensions.persistedQuery` has a `sha256Hash`.');
  }
  return documentId(persisted.sha256Hash);
}

/** Normalizes an id: hashes are sent in either case, with or without the name of their method. */
export function documentId(given: string): string {
  const bare = given.startsWith(PREFIX) ? given.slice(PREFIX.length) : given;
  return SHA256.test(bare) ? bare.toLowerCase() : given;
}

function malformed(message: string): Refusal {
  return new Refusal([requestError('GRAPHQL_PARSE_FAILED', message)], { isWellFormed: false });
}

/** Bounds the depth of variables, without recursion, before they are coerced: deep variables could overflow the stack. */
function checkDepth(variables: Readonly<Record<string, unknown>>): void {
  let level: object[] = [variables];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      throw new Refusal([tooComplex('depth of variables', depth, MAX_DEPTH)]);
    }
    level = level
      .flatMap((parent): unknown[] => Object.values(parent))
      .filter((value) => typeof value === 'object' && value !== null);
  }
}
