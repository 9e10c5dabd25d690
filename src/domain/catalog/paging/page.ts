import { hash } from 'node:crypto';
import type { Instrument, ShariaStatus } from '../../../gateway/operations/get-all-tickers.ts';
import { chain, type MaybePromise } from '../../../lib/maybe-promise.ts';
import { InputError } from '../../../lib/public-error.ts';
import type { CatalogVersion } from '../catalog-version.ts';
import { type CatalogIndex, MATCH, type Matches, toSearchTerm } from '../search/search-index.ts';
import { firstWhere } from '../sorting.ts';

type Given<T> = T | null | undefined;

/** The arguments of the `instruments` field. */
export interface PageRequest {
  readonly first?: Given<number>;
  readonly after?: Given<string>;
  readonly last?: Given<number>;
  readonly before?: Given<string>;
  readonly filter?: Given<InstrumentFilter>;
  readonly orderBy?: Given<InstrumentOrder>;
}

/** A field that is null or missing does not filter. An empty list matches nothing. */
export interface InstrumentFilter {
  readonly search?: Given<string>;
  readonly ids?: Given<readonly string[]>;
  readonly sectors?: Given<readonly number[]>;
  readonly industries?: Given<readonly number[]>;
  readonly shariaStatuses?: Given<readonly ShariaStatus[]>;
  readonly sharia?: Given<boolean>;
  readonly delayed?: Given<boolean>;
  readonly pdt?: Given<boolean>;
}

const DEFAULT_COUNT = 50;
const MAX_COUNT = 500;

/** The requested part of a list: a number of items after or before a cursor, and the name of the cursor's argument. */
function toWindow({ first, after, last, before }: PageRequest) {
  const backward = last != null || before != null;
  const forward = first != null || after != null;
  if (backward && forward) {
    const argument = last != null ? 'last' : 'before';
    throw new InputError(
      argument,
      `${argument} cannot be combined with first or after: a page has one direction.`,
    );
  }
  if (backward) {
    return { backward, count: count('last', last), cursor: before ?? null, argument: 'before' };
  }
  return { backward, count: count('first', first), cursor: after ?? null, argument: 'after' };
}

function count(argument: string, value: Given<number>): number {
  const wanted = value ?? DEFAULT_COUNT;
  if (wanted < 0 || wanted > MAX_COUNT) {
    throw new InputError(argument, `${argument} must be between 0 and ${MAX_COUNT}.`);
  }
  return wanted;
}

type Test = (instrument: Instrument) => boolean;

/** The field that each filter tests. */
const FILTERED = {
  ids: 'id',
  sectors: 'sector',
  industries: 'industry',
  shariaStatuses: 'shariaStatus',
  sharia: 'sharia',
  delayed: 'delayed',
  pdt: 'pdt',
} as const satisfies Record<Exclude<keyof InstrumentFilter, 'search'>, keyof Instrument>;

/** All filters except the search as one predicate; null without filters. */
function toTest(filter: InstrumentFilter): Test | null {
  const tests = (Object.keys(FILTERED) as (keyof typeof FILTERED)[]).flatMap((name): Test[] => {
    const given = filter[name];
    if (given == null) return [];
    const field = FILTERED[name];
    if (typeof given === 'boolean') return [(instrument) => instrument[field] === given];
    const wanted = new Set<unknown>(given);
    return [(instrument) => wanted.has(instrument[field])];
  });
  return tests.length === 0 ? null : (instrument) => tests.every((test) => test(instrument));
}

export type InstrumentConnection = ReturnType<typeof connectionOf>;
export type InstrumentEdge = InstrumentConnection['edges'][number];
export type PageInfo = InstrumentConnection['pageInfo'];

/** A page of a version; synchronous unless the version's index has to be built. Throws an InputError at once. */
export function pageOf(
  version: CatalogVersion,
  request: PageRequest,
): MaybePromise<InstrumentConnection> {
  const window = toWindow(request);
  const term = toSearchTerm(request.filter?.search);
  const test = toTest(request.filter ?? {});
  const order = effectiveOrder(request.orderBy, term);
  const { cursor, argument } = window;
  const position = cursor === null ? null : decodeCursor(argument, cursor, order.name);

  function cut(index: CatalogIndex | null): InstrumentConnection {
    const matches = term !== '' && index ? index.search.find(term) : null;
    const { instruments } = version;
    const sequence = toSequence(version, index, order, matches);
    const isMatch = (ordinal: number) =>
      (matches === null || matches.classes[ordinal] !== MATCH.none) &&
      (test === null || test(instruments[ordinal] as Instrument));
    // An order by relevance has the matches alone.
    const isAll = test === null && (matches === null || order.by === 'RELEVANCE');
    const ordinals = isAll ? sequence.ordinals : sequence.ordinals.filter(isMatch);
    const { length } = ordinals;
    const compareAt = (index: number) =>
      position ? sequence.compare(ordinals[index] as number, position) : 0;
    if (window.backward) {
      const end = position ? firstWhere(0, length, (index) => compareAt(index) >= 0) : length;
      return connectionOf(sequence, ordinals, Math.max(0, end - window.count), end);
    }
    const start = position ? firstWhere(0, length, (index) => compareAt(index) > 0) : 0;
    const end = Math.min(length, start + window.count);
    return connectionOf(sequence, ordinals, start, end);
  }

  const needsIndex = term !== '' || order.by !== 'SYMBOL';
  return needsIndex ? chain(version.index, cut) : cut(null);
}

/** The page of `ordinals` from `start` to before `end`. Its parts are computed when read, so `nodes` creates no cursors. */
function connectionOf(
  { instrumentAt, cursorOf }: Sequence,
  ordinals: Uint32Array,
  start: number,
  end: number,
) {
  const page = () => ordinals.subarray(start, end);
  const cursorAt = (index: number) => cursorOf(ordinals[index] as number);
  return {
    totalCount: ordinals.length,
    get nodes(): readonly Instrument[] {
      return Array.from(page(), instrumentAt);
    },
    get edges() {
      return Array.from(page(), (ordinal) => ({
        node: instrumentAt(ordinal),
        cursor: () => cursorOf(ordinal),
      }));
    },
    get pageInfo() {
      const isEmpty = end === start;
      return {
        hasNextPage: end < ordinals.length,
        hasPreviousPage: start > 0,
        startCursor: isEmpty ? null : cursorAt(start),
        endCursor: isEmpty ? null : cursorAt(end - 1),
      };
    },
  };
}

export interface InstrumentOrder {
  readonly by: 'RELEVANCE' | 'SYMBOL' | 'NAME' | 'LEVERAGE';
  readonly direction?: 'ASC' | 'DESC' | null | undefined;
}

type EffectiveOrder = ReturnType<typeof effectiveOrder>;

/** The order in effect, and its name in cursors. Without a search, relevance falls back to the order by symbol. */
function effectiveOrder(order: InstrumentOrder | null | undefined, term: string) {
  const wanted = order?.by ?? 'RELEVANCE';
  const by = wanted === 'RELEVANCE' && term === '' ? 'SYMBOL' : wanted;
  const descending = order?.direction === 'DESC';
  const name = descending ? `${by}-` : by;
  if (by !== 'RELEVANCE') return { by, descending, name };
  // Relevance differs from search to search, so the term is part of the name.
  const search = hash('sha256', term, 'base64url').slice(0, 8);
  return { by, descending, name: `${name}:${search}` };
}

type Sequence = ReturnType<typeof toSequence>;

/** The instruments of a version in one order. */
function toSequence(
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
type SortKey = readonly (string | number)[];

/** Opaque to clients: the order's name and the sort key. */
export function encodeCursor(order: string, key: SortKey): string {
  // JSON escapes a lone surrogate, which UTF-8 would lose.
  return Buffer.from(JSON.stringify([order, ...key]), 'utf8').toString('base64url');
}

/** A forged cursor only makes the page start elsewhere. */
function decodeCursor(argument: string, cursor: string, order: string): SortKey {
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
