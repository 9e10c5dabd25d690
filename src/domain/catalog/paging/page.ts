import type { Instrument } from '../../../gateway/operations/get-all-tickers.ts';
import { chain, type MaybePromise } from '../../../lib/maybe-promise.ts';
import type { CatalogVersion } from '../catalog-version.ts';
import type { CatalogIndex } from '../search/catalog-index.ts';
import { MATCH } from '../search/search-index.ts';
import { toSearchTerm } from '../search/search-words.ts';
import { firstWhere } from '../sorting.ts';
import { decodeCursor, effectiveOrder, type Sequence, toSequence } from './instrument-order.ts';
import { type PageRequest, toTest, toWindow } from './page-request.ts';

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
    const isAll = matches === null && test === null;
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
