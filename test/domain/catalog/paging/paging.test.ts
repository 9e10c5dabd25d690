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

/** Reads pages of one instrument. After the first page a refresh removes its instrument, and adds another. */
async function idsAcrossRefresh(request: PageRequest, isBackward: boolean): Promise<string> {
  const former = await buildVersion(ROWS, null);
  const seen: string[] = [];
  let version = former;
  let cursor: string | null = null;
  for (let page = 0; page < 2 * ROWS.length; page += 1) {
    const step = isBackward ? { last: 1, before: cursor } : { first: 1, after: cursor };
    const { nodes, pageInfo } = await pageOf(version, { ...request, ...step });
    seen.push(...nodes.map(({ id }) => id));
    cursor = isBackward ? pageInfo.startCursor : pageInfo.endCursor;
    if (!(isBackward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage)) return seen.join('');
    if (version !== former) continue;
    const added = instrument('BB', { name: 'New', leverage: 5 });
    version = await buildVersion([...ROWS.filter(({ id }) => id !== seen[0]), added], former);
  }
  throw new Error(`no last page: ${seen}`);
}

const PAGED: readonly PageRequest[] = [
  ...ORDERS.flatMap(([by]) =>
    (['ASC', 'DESC'] as const).map((direction) => ({ orderBy: { by, direction } })),
  ),
  { filter: { search: 'zoom' } },
  { filter: { sectors: [1] }, orderBy: { by: 'LEVERAGE' } },
];

test.each(PAGED)(
  'pages of a catalog that is refreshed in between have each unchanged instrument once: %j',
  async (request) => {
    const whole = await idsOf(request);
    for (const isBackward of [false, true]) {
      const expected = isBackward ? [...whole].reverse().join('') : whole;
      expect((await idsAcrossRefresh(request, isBackward)).replace('BB', '')).toBe(expected);
    }
  },
);
