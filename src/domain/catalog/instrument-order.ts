import { hash } from 'node:crypto';
import type { Instrument } from '../../gateway/model.ts';
import type { CatalogIndex } from './catalog-index.ts';
import type { CatalogVersion } from './catalog-version.ts';
import { compareText } from './compare.ts';
import type { Place, SortKey } from './cursor.ts';
import { MATCH, type Matches } from './search-index.ts';
import type { SearchTerm } from './search-term.ts';

export type InstrumentOrderBy = 'RELEVANCE' | 'SYMBOL' | 'NAME' | 'LEVERAGE';
export type SortDirection = 'ASC' | 'DESC';

export interface InstrumentOrder {
  readonly by: InstrumentOrderBy;
  readonly direction?: SortDirection | null | undefined;
}

/** The order in effect: without a search, relevance falls back to the order by symbol. */
export interface EffectiveOrder {
  readonly by: InstrumentOrderBy;
  readonly descending: boolean;
}

/** The instruments of a version in one order. */
export interface Sequence {
  /** Identifies the order in cursors. */
  readonly name: string;
  readonly ordinals: Uint32Array;
  placeOf(ordinal: number): Place;
  /** Compares an instrument with a position: negative before, 0 at it, positive behind. */
  compare(ordinal: number, place: Place): number;
}

export function effectiveOrder(
  order: InstrumentOrder | null | undefined,
  term: SearchTerm | null,
): EffectiveOrder {
  const wanted = order?.by ?? 'RELEVANCE';
  return {
    by: wanted === 'RELEVANCE' && term === null ? 'SYMBOL' : wanted,
    descending: order?.direction === 'DESC',
  };
}

/** The term is part of the order's name, because relevance differs from search to search. */
export function orderName({ by, descending }: EffectiveOrder, term: SearchTerm | null): string {
  const name = descending ? `${by}-` : by;
  const isRelevance = by === 'RELEVANCE' && term !== null;
  return isRelevance ? `${name}:${hash('sha256', term.phrase, 'base64url').slice(0, 8)}` : name;
}

/** A key with the order's types. */
export function sampleKey({ by }: EffectiveOrder): SortKey {
  if (by === 'RELEVANCE') return [0, ''];
  return by === 'LEVERAGE' ? [0] : [''];
}

export function toSequence(
  version: CatalogVersion,
  index: CatalogIndex | null,
  order: EffectiveOrder,
  name: string,
  matches: Matches | null,
): Sequence {
  const keys = keysOf(version.instruments, index, order.by, matches);
  const rising = risingOrdinals(version, index, order.by, matches);
  const at = (ordinal: number) => version.instruments[ordinal] as Instrument;
  const sign = order.descending ? -1 : 1;
  return {
    name,
    ordinals: order.descending ? falling(rising, keys) : rising,
    placeOf: (ordinal) => ({ key: keys.of(ordinal), id: at(ordinal).id }),
    compare: (ordinal, { key, id }) =>
      sign * compareKeys(keys.of(ordinal), key) || compareText(at(ordinal).id, id),
  };
}

interface Keys {
  of(ordinal: number): SortKey;
  /** Creates no keys, because it is called for each instrument of a version. */
  areSame(a: number, b: number): boolean;
}

function keysOf(
  instruments: readonly Instrument[],
  index: CatalogIndex | null,
  by: InstrumentOrderBy,
  matches: Matches | null,
): Keys {
  const symbolOf = (ordinal: number) => instruments[ordinal]?.symbol ?? '';
  const nameOf = (ordinal: number) => index?.nameKeys[ordinal] ?? '';
  const leverageOf = (ordinal: number) => instruments[ordinal]?.leverage ?? 0;
  const classOf = (ordinal: number) => matches?.classes[ordinal] ?? MATCH.none;
  switch (by) {
    case 'SYMBOL':
      return keysBy(symbolOf);
    case 'NAME':
      return keysBy(nameOf);
    case 'LEVERAGE':
      return keysBy(leverageOf);
    case 'RELEVANCE':
      return {
        of: (ordinal) => [classOf(ordinal), symbolOf(ordinal)],
        areSame: (a, b) => classOf(a) === classOf(b) && symbolOf(a) === symbolOf(b),
      };
  }
}

function keysBy(read: (ordinal: number) => string | number): Keys {
  return { of: (ordinal) => [read(ordinal)], areSame: (a, b) => read(a) === read(b) };
}

function risingOrdinals(
  version: CatalogVersion,
  index: CatalogIndex | null,
  by: InstrumentOrderBy,
  matches: Matches | null,
): Uint32Array {
  if (by === 'RELEVANCE' && matches) return matches.ordinals;
  if (by === 'NAME' && index) return index.byName;
  if (by === 'LEVERAGE' && index) return index.byLeverage;
  return version.bySymbol;
}

/** Reverses the order, but equal keys stay sorted by ascending id. */
function falling(rising: Uint32Array, keys: Keys): Uint32Array {
  const ordinals = new Uint32Array(rising.length);
  let filled = 0;
  let end = rising.length;
  while (end > 0) {
    const last = rising[end - 1] as number;
    let start = end - 1;
    while (start > 0 && keys.areSame(rising[start - 1] as number, last)) start -= 1;
    for (let at = start; at < end; at += 1) ordinals[filled++] = rising[at] as number;
    end = start;
  }
  return ordinals;
}

/** Key parts at one position have one type: a cursor of another type is refused when it is decoded. */
function compareKeys(a: SortKey, b: SortKey): number {
  for (let part = 0; part < a.length; part += 1) {
    const left = a[part] as string | number;
    const right = b[part] as string | number;
    if (left < right) return -1;
    if (left > right) return 1;
  }
  return 0;
}
