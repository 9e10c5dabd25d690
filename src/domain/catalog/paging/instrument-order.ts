import { hash } from 'node:crypto';
import type { Instrument } from '../../../gateway/operations/get-all-tickers.ts';
import { InputError } from '../../../lib/public-error.ts';
import type { CatalogVersion } from '../catalog-version.ts';
import type { CatalogIndex } from '../search/catalog-index.ts';
import type { Matches } from '../search/search-index.ts';

export interface InstrumentOrder {
  readonly by: 'RELEVANCE' | 'SYMBOL' | 'NAME' | 'LEVERAGE';
  readonly direction?: 'ASC' | 'DESC' | null | undefined;
}

type EffectiveOrder = ReturnType<typeof effectiveOrder>;

/** The order in effect, and its name in cursors. Without a search, relevance falls back to the order by symbol. */
export function effectiveOrder(order: InstrumentOrder | null | undefined, term: string) {
  const wanted = order?.by ?? 'RELEVANCE';
  const by = wanted === 'RELEVANCE' && term === '' ? 'SYMBOL' : wanted;
  const descending = order?.direction === 'DESC';
  const name = descending ? `${by}-` : by;
  if (by !== 'RELEVANCE') return { by, descending, name };
  // Relevance differs from search to search, so the term is part of the name.
  const search = hash('sha256', term, 'base64url').slice(0, 8);
  return { by, descending, name: `${name}:${search}` };
}

export type Sequence = ReturnType<typeof toSequence>;

/** The instruments of a version in one order. */
export function toSequence(
  version: CatalogVersion,
  index: CatalogIndex | null,
  { by, descending, name }: EffectiveOrder,
  matches: Matches | null,
) {
  const { rising, valuesOf } = sortBy(version, index, by, matches);
  const instrumentAt = (ordinal: number) => version.instruments[ordinal] as Instrument;
  const keyOf = (ordinal: number): SortKey => [...valuesOf(ordinal), instrumentAt(ordinal).id];
  return {
    ordinals: descending ? rising.toReversed() : rising,
    instrumentAt,
    cursorOf: (ordinal: number) => encodeCursor(name, keyOf(ordinal)),
    /** Compares an instrument with a position: negative before it, 0 at it, positive after it. */
    compare(ordinal: number, position: SortKey): number {
      const key = keyOf(ordinal);
      const first = key.findIndex((part, index) => part !== position[index]);
      if (first < 0) return 0;
      const isLess = (key[first] as string | number) < (position[first] as string | number);
      // In a descending order, the lesser key comes after the position.
      return isLess === descending ? 1 : -1;
    },
  };
}

interface Sort {
  readonly rising: Uint32Array;
  /** The values by which an instrument is sorted. */
  readonly valuesOf: (ordinal: number) => SortKey;
}

function sortBy(
  { instruments, bySymbol }: CatalogVersion,
  index: CatalogIndex | null,
  by: InstrumentOrder['by'],
  matches: Matches | null,
): Sort {
  const at = (ordinal: number) => instruments[ordinal] as Instrument;
  if (by === 'SYMBOL') return { rising: bySymbol, valuesOf: (ordinal) => [at(ordinal).symbol] };
  // The casts hold: readers of the other orders have waited for the index, and RELEVANCE is used only with a search.
  const { byName, byLeverage, nameKeys } = index as CatalogIndex;
  if (by === 'NAME')
    return { rising: byName, valuesOf: (ordinal) => [nameKeys[ordinal] as string] };
  if (by === 'LEVERAGE')
    return { rising: byLeverage, valuesOf: (ordinal) => [at(ordinal).leverage] };
  const { classes, ordinals } = matches as Matches;
  const valuesOf = (ordinal: number) => [classes[ordinal] as number, at(ordinal).symbol];
  return { rising: ordinals, valuesOf };
}

/** An instrument's sort values and id: a position in an order. It stays valid in versions without the instrument. */
export type SortKey = readonly (string | number)[];

/** Opaque to clients: the order's name and the sort key. */
export function encodeCursor(order: string, key: SortKey): string {
  // JSON escapes a lone surrogate, which UTF-8 would lose.
  return Buffer.from(JSON.stringify([order, ...key]), 'utf8').toString('base64url');
}

/** A forged cursor only makes the page start elsewhere. */
export function decodeCursor(argument: string, cursor: string, order: string): SortKey {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    const isOurs = Array.isArray(parts) && parts[0] === order;
    // Comparing a text with a forged object can throw.
    if (isOurs && parts.every((part) => typeof part !== 'object')) return parts.slice(1);
  } catch {
    // It is not JSON.
  }
  throw new InputError(argument, `${argument} is not a cursor of this order and search.`);
}
