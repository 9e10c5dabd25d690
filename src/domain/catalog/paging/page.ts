import { hash } from 'node:crypto';
import type { Instrument, ShariaStatus } from '../../../gateway/operations/get-all-tickers.ts';
import { InputError } from '../../../lib/public-error.ts';
import type { CatalogVersion } from '../catalog-version.ts';
import { fold, MATCH, type Matches, toSearchTerm } from '../search/search-index.ts';
import { firstWhere } from '../sorting.ts';

type Given<T> = T | null | undefined;

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

export function pageOf(version: CatalogVersion, request: PageRequest): InstrumentConnection {
  const window = toWindow(request);
  const term = toSearchTerm(request.filter?.search);
  const test = toTest(request.filter ?? {});
  const order = effectiveOrder(request.orderBy, term);
  const { cursor, argument } = window;
  const position = cursor === null ? null : decodeCursor(argument, cursor, order.name);

  const matches = term === '' ? null : version.index.search.find(term);
  const { rising, valuesOf } = sortBy(version, order.by, matches);
  const keyOf = (instrument: Instrument): SortKey => [...valuesOf(instrument), instrument.id];
  const isMatch = (instrument: Instrument) =>
    (matches === null || matches.classOf(instrument) !== MATCH.none) &&
    (test === null || test(instrument));
  // An order by relevance has the matches alone.
  const isAll = test === null && (matches === null || order.by === 'RELEVANCE');
  const matching = isAll ? rising : rising.filter(isMatch);
  const sorted = order.descending ? matching.toReversed() : matching;
  const { length } = sorted;
  const compareAt = (at: number) => {
    if (position === null) return 0;
    const difference = compareKeys(keyOf(sorted[at] as Instrument), position);
    return order.descending ? -difference : difference;
  };
  const cursorOf = (instrument: Instrument) => encodeCursor(order.name, keyOf(instrument));
  if (window.backward) {
    const end = position ? firstWhere(length, (at) => compareAt(at) >= 0) : length;
    return connectionOf(sorted, cursorOf, Math.max(0, end - window.count), end);
  }
  const start = position ? firstWhere(length, (at) => compareAt(at) > 0) : 0;
  return connectionOf(sorted, cursorOf, start, Math.min(length, start + window.count));
}

/** The page of `sorted` from `start` to before `end`. Cursors are made when they are read. */
function connectionOf(
  sorted: readonly Instrument[],
  cursorOf: (instrument: Instrument) => string,
  start: number,
  end: number,
) {
  const nodes = sorted.slice(start, end);
  const [first, last] = [nodes[0], nodes.at(-1)];
  return {
    totalCount: sorted.length,
    nodes,
    get edges() {
      return nodes.map((node) => ({ node, cursor: () => cursorOf(node) }));
    },
    get pageInfo() {
      return {
        hasNextPage: end < sorted.length,
        hasPreviousPage: start > 0,
        startCursor: first ? cursorOf(first) : null,
        endCursor: last ? cursorOf(last) : null,
      };
    },
  };
}

export interface InstrumentOrder {
  readonly by: 'RELEVANCE' | 'SYMBOL' | 'NAME' | 'LEVERAGE';
  readonly direction?: 'ASC' | 'DESC' | null | undefined;
}

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

interface Sort {
  readonly rising: readonly Instrument[];
  readonly valuesOf: (instrument: Instrument) => SortKey;
}

function sortBy(
  { instruments, index: { byName, byLeverage } }: CatalogVersion,
  by: InstrumentOrder['by'],
  matches: Matches | null,
): Sort {
  if (by === 'NAME') return { rising: byName, valuesOf: ({ name }) => [fold(name)] };
  if (by === 'LEVERAGE') return { rising: byLeverage, valuesOf: ({ leverage }) => [leverage] };
  if (by === 'SYMBOL' || matches === null) {
    return { rising: instruments, valuesOf: ({ symbol }) => [symbol] };
  }
  const { classOf, instruments: rising } = matches;
  return { rising, valuesOf: (instrument) => [classOf(instrument), instrument.symbol] };
}

/** An instrument's sort values and id: a position in an order. It stays valid in versions without the instrument. */
type SortKey = readonly (string | number)[];

/** Negative if the first key comes first in an ascending order, 0 if they are equal. */
function compareKeys(a: SortKey, b: SortKey): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  if (at < 0) return 0;
  return (a[at] as string | number) < (b[at] as string | number) ? -1 : 1;
}

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
