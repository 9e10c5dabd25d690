import { LRUCache } from 'lru-cache';
import { identityOf, valueKey } from '../../lib/value-key.ts';
import { frozenCopy } from './read-only.ts';

const MAX_BYTES = 16 * 1024 * 1024;

interface Resolved {
  readonly value: unknown;
}

/** The values of shared fields, each resolved once for everybody as long as it lives. */
export function createSharedValues() {
  const values = new LRUCache<string, Resolved, () => unknown>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ value }, key) => key.length + sizeOf(value),
    // The value is shared by accounts: code that changes it gets an error, and the others never see the change.
    fetchMethod: async (_key, _old, { context: resolve }) => ({
      value: frozenCopy(await resolve()),
    }),
    // A reader that waits for a value gets it, even if there was no room for it meanwhile.
    ignoreFetchAbort: true,
  });

  /** `source`: the instrument of the viewer's own catalog, whose fields may differ between groups; else undefined. */
  return (
    field: string,
    source: unknown,
    args: unknown,
    seconds: number,
    resolve: () => unknown,
  ): unknown => {
    const of = typeof source === 'object' && source !== null ? identityOf(source) : 0;
    const key = `${field} ${of} ${valueKey(args)}`;
    const known = values.get(key);
    if (known !== undefined) return known.value;
    const resolving = values.fetch(key, { context: resolve, ttl: seconds * 1000 });
    return resolving.then((resolved) => resolved?.value);
  };
}

// A value that cannot be written may be large: an object that knows all others of its kind, as mappers of rows make them.
const UNKNOWN_BYTES = 65_536;

function sizeOf(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 1;
  } catch {
    return UNKNOWN_BYTES;
  }
}
