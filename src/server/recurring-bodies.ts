import { LRUCache } from 'lru-cache';

const MAX_BYTES = 4 * 1024 * 1024;
const LONGEST = 16 * 1024;
const BYTES_PER_ENTRY = 500;
const TEXTS = new Set(['query', 'operationName', 'documentId']);
const WITH_VARIABLES = '"variables":{"';

/**
 * Bodies that many clients send byte for byte alike, as an app's screens do whose documents take no
 * variables: such a body is read once. One with variables is not remembered; it may hold a password.
 */
export class RecurringBodies {
  readonly #params = new LRUCache<string, object>({
    maxSize: MAX_BYTES,
    sizeCalculation: (_params, text) => BYTES_PER_ENTRY + 2 * text.length,
  });

  /** As JSON.parse would, errors included. */
  parse(body: Buffer): unknown {
    if (body.length > LONGEST || body.includes(WITH_VARIABLES)) return JSON.parse(body.toString());
    // Each byte is one character: as a name for the bytes it need not be readable.
    const name = body.toString('latin1');
    const known = this.#params.get(name);
    if (known) return known;
    const params: unknown = JSON.parse(body.toString());
    if (isObject(params) && !hasVariables(params)) this.#params.set(name, Object.freeze(params));
    return params;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Beside a document, or the hash of one, anything at all, by whichever name. */
function hasVariables(params: Fields): boolean {
  return Object.entries(params).some(([name, value]) => {
    if (TEXTS.has(name) || value === null) return false;
    if (!isObject(value)) return true;
    const inside = Object.keys(value);
    return name === 'extensions' ? inside.join() !== 'persistedQuery' : inside.length > 0;
  });
}
