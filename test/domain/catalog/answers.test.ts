import { expect, test } from 'vitest';
import {
  INSTRUMENT,
  type SentInstrument,
} from '../../../src/gateway/operations/get-all-tickers.ts';
import { createInstruments, type Listed } from '../../../src/sandbox/instruments.ts';
import { eventually } from '../../support/eventually.ts';
import { type CatalogWorld, HOUR_MS, MINUTE_MS, openCatalogWorld } from './catalog-world.ts';

const [{ instrument }] = createInstruments('tests', 1) as [Listed];
const rowOf = (id: string, change: Partial<SentInstrument> = {}) =>
  INSTRUMENT.toWire({ ...instrument, ...change, id, symbol: id });
const ROW = rowOf('AAA');

/** Answers that are used only until the next attempt, a minute later. */
const PROVISIONAL: readonly [string, readonly unknown[]][] = [
  ['no rows', []],
  ['mostly broken rows', [ROW, 1, null]],
];

async function worldAnswering(body: unknown) {
  const world = await openCatalogWorld();
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 200, body });
  return world;
}

test('one of several rows with the same id is kept', async () => {
  const repeat = rowOf('AAA', { description: 'again' });
  await using world = await worldAnswering([ROW, rowOf('BBB'), repeat, repeat, repeat]);
  const { version, skipped, expiresAt, fetchedAt } = await world.catalogs.read(world.viewer());
  // Repeated rows do not count as broken, so the answer is used for longer than a minute.
  expect(expiresAt.getTime() - fetchedAt.getTime()).toBeGreaterThan(MINUTE_MS);
  expect(version.instruments.map(({ id }) => id)).toEqual(['AAA', 'BBB']);
  expect(skipped).toBe(0);
});

test.each(PROVISIONAL)(
  'an answer with %s is served for a minute if there is no other catalog',
  async (_what, body) => {
    await using world = await worldAnswering(body);
    const viewer = world.viewer();
    const view = await world.catalogs.read(viewer);
    expect(view.expiresAt.getTime() - view.fetchedAt.getTime()).toBe(MINUTE_MS);
    await world.clock.advance(MINUTE_MS - 1);
    expect(await world.catalogs.read(viewer)).toMatchObject({ version: view.version });
    expect(world.fetches()).toBe(1);
    world.sandbox.clearFaults();
    await world.clock.advance(1);
    expect((await world.catalogs.read(viewer)).version.size).toBe(60);
  },
);

test.each(PROVISIONAL)('an answer with %s never replaces a good catalog', async (_what, body) => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  const { version } = await world.catalogs.read(viewer);
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 200, body });
  await world.clock.advance(HOUR_MS * 0.9);
  await world.catalogs.read(viewer);
  await eventually(() => world.log.some(({ message }) => message.includes('not be renewed')));
  expect(await world.catalogs.read(viewer)).toMatchObject({ version, stale: false });
  await world.clock.advance(HOUR_MS * 0.2);
  expect(await world.catalogs.read(viewer)).toMatchObject({ version, stale: true });
});

function serveRows(world: CatalogWorld, count: number): void {
  const body = Array.from({ length: count }, (_, index) => rowOf(`ROW${index}`));
  world.sandbox.clearFaults();
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 200, body });
}

/** The logged reasons for which a catalog could not be renewed. */
function reasonsIn({ log }: CatalogWorld): unknown[] {
  return log.map(({ fields }) => (fields as { readonly reason?: string }).reason);
}

test('a catalog with less than half the instruments is used only once the former catalog may no longer be served', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  serveRows(world, 120);
  await world.catalogs.read(viewer);
  // Half of the instruments are enough.
  serveRows(world, 60);
  await world.clock.advance(HOUR_MS);
  const { version } = await world.catalogs.read(viewer);
  expect(version.size).toBe(60);
  serveRows(world, 29);
  await world.clock.advance(HOUR_MS - 1);
  await world.catalogs.read(viewer);
  await eventually(() => reasonsIn(world).length > 0);
  expect(await world.catalogs.read(viewer)).toMatchObject({ version, stale: false });
  expect(world.catalogs.figures).toMatchObject([{ group: 'standard-usd', size: 60, offered: 29 }]);
  await world.clock.advance(HOUR_MS);
  expect(await world.catalogs.read(viewer)).toMatchObject({ version, stale: true });
  await world.clock.advance(1);
  const small = await world.catalogs.read(viewer);
  expect(small).toMatchObject({ version: { size: 29 }, stale: false });
  expect(world.catalogs.figures).toMatchObject([{ group: 'standard-usd', size: 29, offered: 29 }]);
  // The refusal is logged once, although the small catalog was offered several times.
  expect(reasonsIn(world)).toEqual([
    expect.stringContaining('a catalog with 29 of 60 instruments'),
  ]);
});

test('an empty catalog is fetched again without its ETag, because a 304 would prolong it', async () => {
  await using world = await openCatalogWorld();
  const empty = { status: 200, body: [], headers: { etag: '"empty"' } };
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', ...empty });
  const viewer = world.viewer();
  expect((await world.catalogs.read(viewer)).version.size).toBe(0);
  await world.clock.advance(MINUTE_MS);
  await world.catalogs.read(viewer);
  const requests = world.sandbox.requests('getAllTickers');
  const tags = requests.map(({ headers }) => headers['if-none-match']);
  expect(tags).toEqual([undefined, undefined]);
});

test('after a refused conditional request the catalog is fetched without its ETag', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  await world.clock.advance(HOUR_MS);
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 412, times: 1 });
  expect(await world.catalogs.read(viewer)).toMatchObject({ stale: true });
  await world.clock.advance(MINUTE_MS);
  await world.catalogs.read(viewer);
  await eventually(() => expect(world.fetches()).toBe(3));
  const requests = world.sandbox.requests('getAllTickers');
  const tags = requests.map(({ headers }) => headers['if-none-match']);
  expect(tags).toEqual([undefined, expect.any(String), undefined]);
});

test('a 304 does not prove the group', async () => {
  await using world = await openCatalogWorld({ proofMs: HOUR_MS });
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  await world.clock.advance(HOUR_MS - 1);
  void world.catalogs.read(viewer);
  await eventually(() => expect(world.catalogs.read(viewer)).toMatchObject({ ageSeconds: 0 }));
  expect(world.sandbox.requests('getAllTickers')[1]?.headers['if-none-match']).toBeDefined();
  await world.gateway.getOpenPositions(viewer, null);
  expect(world.ledger.group(viewer)).not.toBeNull();
  await world.clock.advance(1);
  expect(world.ledger.isAccepted(viewer)).toBe(true);
  expect(world.ledger.group(viewer)).toBeNull();
});
