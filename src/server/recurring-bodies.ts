import { LRUCache } from 'lru-cache';
import { parseExactJson } from '../lib/exact-json.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const LONGEST = 16 * 1024;
const BYTES_PER_ENTRY = 500;
const TEXTS = new Set(['query', 'operationName', 'documentId']);
const WITH_VARIABLES = '"variables":{"';

/**
 * Memoizes the parsing of bodies that many clients send byte for byte alike, as an app's screens do
 * whose documents take no variables. One with variables is not cached; it may contain a password.
 */
export class RecurringBodies {
  readonly #params = new LRUCache<string, object>({
    maxSize: MAX_BYTES,
    sizeCalculation: (_params, text) => BYTES_PER_ENTRY + 2 * text.length,
  });

  /** Behaves as `parseExactJson`, errors included. */
  parse(body: Buffer): unknown {
    if (body.length > LONGEST || body.includes(WITH_VARIABLES)) {
      return parseExactJson(body.toString());
    }
    // The cache key: latin1 maps each byte to one character.
    const name = body.toString('latin1');
    const known = this.#params.get(name);
    if (known) return known;
    const params = parseExactJson(body.toString());
    if (isObject(params) && isPlain(params)) this.#params.set(name, Object.freeze(params));
    return params;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Only a document, or the hash of one, without further properties or nested values: a short text can
 * parse into many lists, objects or names, which take more memory than the cache counts.
 */
function isPlain(params: Fields): boolean {
  return Object.entries(params).every(([name, value]) => {
    if (TEXTS.has(name)) return isText(value);
    if (name === 'variables') return value === null || isEmpty(value);
    return name === 'extensions' && (value === null || isHash(value));
  });
}

function isHash(extensions: unknown): boolean {
  if (!isObject(extensions) || Object.keys(extensions).join() !== 'persistedQuery') return false;
  const { persistedQuery } = extensions;
  if (!isObject(persistedQuery)) return false;
  const { version = 1, sha256Hash, ...more } = persistedQuery;
  return version === 1 && typeof sha256Hash === 'string' && isEmpty(more);
}

function isText(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
