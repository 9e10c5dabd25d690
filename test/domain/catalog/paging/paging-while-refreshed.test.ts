import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CatalogVersion } from '../../../../src/domain/catalog/catalog-version.ts';
import { buildVersion } from '../../../../src/domain/catalog/catalog-version.ts';
import type { InstrumentOrder } from '../../../../src/domain/catalog/paging/instrument-order.ts';
import { pageOf } from '../../../../src/domain/catalog/paging/page.ts';
import type { PageRequest } from '../../../../src/domain/catalog/paging/page-request.ts';
import type { Instrument } from '../../../../src/gateway/model.ts';
import { instrument } from '../instruments.ts';

const MOST_INSTRUMENTS = 25;
/** Those of the smallest pages through all of both versions, and an empty one. */
const MOST_PAGES = 2 * MOST_INSTRUMENTS + 1;

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
  .uniqueArray(row, { selector: ({ id }) => id, maxLength: MOST_INSTRUMENTS })
  .map((rows) => rows.map(({ id, ...own }) => instrument(id, own)));
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

/** Pages to the end; from the page numbered `turn` on in the second version. */
async function walk(
  versions: readonly [CatalogVersion, CatalogVersion],
  turn: number,
  size: number,
  isBackward: boolean,
  request: PageRequest,
): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page <= MOST_PAGES; page += 1) {
    const version = versions[page < turn ? 0 : 1];
    const step: PageRequest = isBackward
      ? { last: size, before: cursor }
      : { first: size, after: cursor };
    const { nodes, pageInfo } = await pageOf(version, { ...request, ...step });
    const ids = nodes.map(({ id }) => id);
    seen.push(...(isBackward ? ids.reverse() : ids));
    cursor = isBackward ? pageInfo.startCursor : pageInfo.endCursor;
    const hasMore = isBackward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage;
    // An empty page before the change of versions says nothing about the second one.
    if (!hasMore || cursor === null) return seen;
  }
  throw new Error(`there is no last page among ${MOST_PAGES}: ${seen}`);
}

test('paging through a catalog that is refreshed midway yields each remaining instrument exactly once', async () => {
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
      async (before, others, stays, turn, size, isBackward, filter, orderBy) => {
        // The second catalog keeps a random part of the first, and has new and changed ones.
        const kept = before.filter((_row, at) => stays[at]);
        const keptIds = new Set(kept.map(({ id }) => id));
        const after = [...kept, ...others.filter(({ id }) => !keptIds.has(id))];
        const request = { filter, orderBy };
        const first = (await buildVersion(before, null)).version;
        const second = (await buildVersion(after, first)).version;
        const seen = await walk([first, second], turn, size, isBackward, request);
        const matching = await pageOf(first, { ...request, first: 500 });
        const throughout = matching.nodes.filter(
          (node: Instrument) => second.byId.get(node.id) === node,
        );
        const isAtEnd = turn > Math.ceil(matching.totalCount / size);
        for (const { id } of throughout) {
          expect(seen.filter((each) => each === id)).toHaveLength(1);
        }
        if (isAtEnd) expect(seen).toHaveLength(matching.totalCount);
      },
    ),
    { numRuns: 300 },
  );
});
