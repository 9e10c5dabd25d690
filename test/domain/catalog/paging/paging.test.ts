import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  buildVersion,
  type CatalogVersion,
} from '../../../../src/domain/catalog/catalog-version.ts';
import {
  encodeCursor,
  type InstrumentOrder,
  type PageRequest,
  pageOf,
} from '../../../../src/domain/catalog/paging/page.ts';
import type { Instrument } from '../../../../src/gateway/operations/get-all-tickers.ts';
import { instrument } from '../instruments.ts';

const ROWS = [
  instrument('C', { name: 'eBay', leverage: 5, sector: 1 }),
  instrument('A', { name: 'Zoom', leverage: 30, sector: 2, sharia: false, pdt: true }),
  instrument('D', { name: 'Éclair', leverage: 5, sector: 1, delayed: true }),
  instrument('B', { name: 'Dow', leverage: 30, sector: 3, shariaStatus: 'QUESTIONABLE' }),
  instrument('E', { name: 'Zoom', leverage: 0.5, sector: 1, industry: 7 }),
];

/** The ids of the page, joined into one word. */
async function idsOf(request: PageRequest): Promise<string> {
  const version = await buildVersion(ROWS, null);
  return (await pageOf(version, request)).nodes.map(({ id }) => id).join('');
}

/** A catalog of the instruments S1000, S1001, …, built from unsorted rows. */
async function catalogOf(count: number): Promise<CatalogVersion> {
  const rows = Array.from({ length: count }, (_, index) => {
    const shuffled = (index * 7) % count;
    return instrument(`S${1_000 + shuffled}`);
  });
  return await buildVersion(rows, null);
}

const ORDERS: readonly [by: InstrumentOrder['by'], rising: string, falling: string][] = [
  ['SYMBOL', 'ABCDE', 'EDCBA'],
  // Case and accents are ignored.
  ['NAME', 'BCDAE', 'EADCB'],
  ['LEVERAGE', 'ECDAB', 'BADCE'],
  ['RELEVANCE', 'ABCDE', 'EDCBA'],
];

test.each(ORDERS)('the order by %s is %s, descending %s', async (by, rising, falling) => {
  expect(await idsOf({ orderBy: { by } })).toBe(rising);
  expect(await idsOf({ orderBy: { by, direction: 'ASC' } })).toBe(rising);
  expect(await idsOf({ orderBy: { by, direction: 'DESC' } })).toBe(falling);
  // The search finds A and E, in the same order.
  const found = rising.replace(/[^AE]/g, '');
  expect(await idsOf({ orderBy: { by }, filter: { search: 'zoom' } })).toBe(found);
});

const FILTERS: readonly [filter: PageRequest['filter'], ids: string][] = [
  [{}, 'ABCDE'],
  [{ ids: null, sectors: null, sharia: null, search: null }, 'ABCDE'],
  [{ ids: ['B', 'unknown', 'D', '__proto__'] }, 'BD'],
  [{ ids: [] }, ''],
  [{ sectors: [1, 3] }, 'BCDE'],
  [{ sectors: [] }, ''],
  [{ industries: [7] }, 'E'],
  [{ shariaStatuses: ['QUESTIONABLE'] }, 'B'],
  [{ sharia: false }, 'A'],
  [{ pdt: true }, 'A'],
  [{ pdt: false, sectors: [1], search: 'zoom' }, 'E'],
];

test.each(FILTERS)('the filter %j finds %j', async (filter, expected) => {
  expect(await idsOf({ filter })).toBe(expected);
});

test('a page has 50 instruments by default, and 500 at most', async () => {
  const version = await catalogOf(3_000);
  const size = async (request: PageRequest) => (await pageOf(version, request)).nodes.length;
  expect(await size({})).toBe(50);
  expect(await size({ first: null })).toBe(50);
  expect(await size({ first: 0 })).toBe(0);
  expect(await size({ first: 500 })).toBe(500);
  expect(await size({ last: 500 })).toBe(500);
  const { nodes } = await pageOf(version, { first: 500 });
  expect(nodes.map(({ id }) => id)).toEqual(nodes.map((_, at) => `S${1_000 + at}`));
});

test('a page has its cursors, and whether other pages precede and follow it', async () => {
  const version = await catalogOf(5);
  const first = await pageOf(version, { first: 2 });
  expect(first.totalCount).toBe(5);
  expect(first.edges.map(({ node }) => node.id)).toEqual(['S1000', 'S1001']);
  const [start, end] = first.edges.map(({ cursor }) => cursor());
  expect(first.pageInfo).toEqual({
    hasNextPage: true,
    hasPreviousPage: false,
    startCursor: start,
    endCursor: end,
  });
  const second = await pageOf(version, { first: 3, after: end ?? '' });
  expect(second.nodes.map(({ id }) => id)).toEqual(['S1002', 'S1003', 'S1004']);
  expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  const last = await pageOf(version, { last: 2 });
  expect(last.nodes.map(({ id }) => id)).toEqual(['S1003', 'S1004']);
  const before = await pageOf(version, { before: last.pageInfo.startCursor });
  expect(before.nodes.map(({ id }) => id)).toEqual(['S1000', 'S1001', 'S1002']);
  expect(before.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const none = await pageOf(version, { first: 0 });
  expect(none.pageInfo).toMatchObject({ hasNextPage: true, startCursor: null, endCursor: null });
});

const WRONG: readonly [request: PageRequest, argument: string][] = [
  [{ first: -1 }, 'first'],
  [{ first: 501 }, 'first'],
  [{ last: -1 }, 'last'],
  [{ last: 501 }, 'last'],
  [{ first: 1, last: 1 }, 'last'],
  [{ after: 'x', before: 'y' }, 'before'],
  [{ first: 1, before: 'x' }, 'before'],
  [{ last: 1, after: 'x' }, 'last'],
  [{ after: '' }, 'after'],
  [{ after: 'forged' }, 'after'],
  [{ after: encodeCursor('SYMBOL', [{ toString: 1 } as never]) }, 'after'],
];

test.each(WRONG)('the request %j is refused for its argument %s', async (request, argument) => {
  const version = await catalogOf(3);
  expect(() => pageOf(version, request)).toThrow(
    expect.objectContaining({
      name: 'InputError',
      argument,
      message: expect.stringMatching(new RegExp(`^${argument} .*\\.$`)),
    }),
  );
});

test('a cursor of another order, direction or search is refused', async () => {
  const version = await catalogOf(3);
  const requests: PageRequest[] = [
    { orderBy: { by: 'SYMBOL' } },
    { orderBy: { by: 'SYMBOL', direction: 'DESC' } },
    { orderBy: { by: 'NAME' } },
    { orderBy: { by: 'LEVERAGE' } },
    { filter: { search: 'name' } },
    { filter: { search: 's1' } },
  ];
  for (const request of requests) {
    const page = await pageOf(version, { ...request, first: 1 });
    const after = page.pageInfo.endCursor;
    for (const other of requests) {
      if (other === request) await pageOf(version, { ...other, after });
      else expect(() => pageOf(version, { ...other, after })).toThrow(/not a cursor of this order/);
    }
  }
});

const MAX_INSTRUMENTS = 25;
/** With pages of one instrument: all of the first version, all of the second, and an empty page. */
const MAX_PAGES = 2 * MAX_INSTRUMENTS + 1;

const WORDS = ['gold', 'Gold', 'golden', 'silver', 'Sílver', 'bold', 'fields', ''];
const row = fc.record({
  id: fc.constantFrom(...Array.from({ length: 30 }, (_, at) => `S${at}`), 'GOLD', 'GOLDX'),
  name: fc.array(fc.constantFrom(...WORDS), { maxLength: 2 }).map((words) => words.join(' ')),
  description: fc.constantFrom(...WORDS),
  leverage: fc.constantFrom(-1, 0, 0.5, 5, 30),
  sector: fc.constantFrom(1, 2),
  pdt: fc.boolean(),
});
const catalog = fc
  .uniqueArray(row, { selector: ({ id }) => id, maxLength: MAX_INSTRUMENTS })
  .map((rows) => rows.map(({ id, ...fields }) => instrument(id, fields)));
const filter = fc.record(
  {
    search: fc.constantFrom('gold', 'glod', 's1', 'silver', 'gold fields', ' '),
    sectors: fc.subarray([1, 2]),
    pdt: fc.boolean(),
  },
  { requiredKeys: [] },
);
const orderBy = fc.record({
  by: fc.constantFrom<InstrumentOrder['by']>('RELEVANCE', 'SYMBOL', 'NAME', 'LEVERAGE'),
  direction: fc.constantFrom('ASC' as const, 'DESC' as const),
});

/** Reads all pages. The first pages, `oldPages` of them, are from the first version, and later pages from the second. */
async function readAllPages(
  versions: readonly [CatalogVersion, CatalogVersion],
  oldPages: number,
  size: number,
  isBackward: boolean,
  request: PageRequest,
): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page <= MAX_PAGES; page += 1) {
    const version = versions[page < oldPages ? 0 : 1];
    const step: PageRequest = isBackward
      ? { last: size, before: cursor }
      : { first: size, after: cursor };
    const { nodes, pageInfo } = await pageOf(version, { ...request, ...step });
    const ids = nodes.map(({ id }) => id);
    seen.push(...(isBackward ? ids.reverse() : ids));
    cursor = isBackward ? pageInfo.startCursor : pageInfo.endCursor;
    const hasMore = isBackward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage;
    // After an empty page in the first version there is no cursor to continue from.
    if (!hasMore || cursor === null) return seen;
  }
  throw new Error(`no last page within ${MAX_PAGES} pages: ${seen}`);
}

test('paging through a catalog that is refreshed in between yields each unchanged instrument exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(
      catalog,
      catalog,
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      fc.integer({ min: 0, max: 6 }),
      fc.integer({ min: 1, max: 6 }),
      fc.boolean(),
      filter,
      orderBy,
      async (before, others, isKept, oldPages, size, isBackward, filter, orderBy) => {
        // The second catalog keeps a random part of the first, and has new and changed instruments.
        const kept = before.filter((_row, index) => isKept[index]);
        const keptIds = new Set(kept.map(({ id }) => id));
        const after = [...kept, ...others.filter(({ id }) => !keptIds.has(id))];
        const request = { filter, orderBy };
        const first = await buildVersion(before, null);
        const second = await buildVersion(after, first);
        const seen = await readAllPages([first, second], oldPages, size, isBackward, request);
        const matching = await pageOf(first, { ...request, first: 500 });
        const unchanged = matching.nodes.filter(
          (node: Instrument) => second.byId.get(node.id) === node,
        );
        for (const { id } of unchanged) {
          expect(seen.filter((each) => each === id)).toHaveLength(1);
        }
        const allPagesAreOld = oldPages > Math.ceil(matching.totalCount / size);
        if (allPagesAreOld) expect(seen).toHaveLength(matching.totalCount);
      },
    ),
    { numRuns: 300 },
  );
});
