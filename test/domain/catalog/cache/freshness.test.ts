import { expect, test } from 'vitest';
import type { CatalogView } from '../../../../src/domain/catalog/catalogs.ts';
import { DEMO, HOUR_MS, MINUTE_MS, openCatalogWorld, PRO } from '../catalog-world.ts';

test('a catalog is served without a call until its maximum age', async () => {
  const reads: string[] = [];
  await using world = await openCatalogWorld({ onRead: (source) => void reads.push(source) });
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  await world.clock.advance(HOUR_MS * 0.8 - 1);
  const view = world.catalogs.read(viewer) as CatalogView;
  expect(view).toMatchObject({ stale: false, ageSeconds: 2_879 });
  expect(world.fetches()).toBe(1);
  expect(reads).toEqual(['wait', 'memory']);
  expect(world.log).toEqual([]);
});

test.each([
  ['3500, 100', 3_500],
  [' 3500 ,100', 3_500],
  ['0', 0],
  ['99999999999', 2_000_000_000],
  ['9'.repeat(400), 2_000_000_000],
  ['-5', 0],
  ['1e3', 0],
  ['soon, 100', 0],
])('an Age of %s counts as %i seconds', async (age, seconds) => {
  await using world = await openCatalogWorld();
  world.sandbox.changeCatalog({ ageSeconds: null, headers: { age } });
  const view = await world.catalogs.read(world.viewer());
  expect(view).toMatchObject({ ageSeconds: seconds, stale: seconds >= 3_600 });
});

test.each([
  ['without an age', null, 0],
  ['with an age', '100', 100],
])('what is shown of its age counts from when the call was sent, %s', async (_what, age, aged) => {
  await using world = await openCatalogWorld({ takesMs: 3_000 });
  world.sandbox.changeCatalog({ ageSeconds: null, ...(age !== null && { headers: { age } }) });
  const view = await world.catalogs.read(world.viewer());
  const sentAtMs = world.clock.now() - 3_000;
  expect(view.fetchedAt).toEqual(new Date(sentAtMs));
  expect(view.ageSeconds).toBe(aged + 3);
  expect(view.expiresAt).toEqual(new Date(sentAtMs + HOUR_MS - aged * 1_000));
  expect(world.catalogs.figures).toMatchObject([{ ageSeconds: aged + 3 }]);
});

test('a Date counts from a whole second on, which is its resolution', async () => {
  await using world = await openCatalogWorld();
  const ageFrom = async (email: string, agoMs: number) => {
    const date = new Date(world.clock.now() - agoMs).toUTCString();
    world.sandbox.changeCatalog({ headers: { date } });
    return (await world.catalogs.read(world.viewer({ email }))).ageSeconds;
  };
  expect(await ageFrom(DEMO, 1_000)).toBe(1);
  await world.clock.advance(999);
  expect(await ageFrom(PRO, 999)).toBe(0);
});

const LIVES: readonly [cacheControl: string, seconds: number][] = [
  ['max-age=600', 600],
  ['public, max-age=600, s-maxage=300', 300],
  ['s-maxage="120"', 120],
  ['max-age=5', 60],
  ['max-age=0', 60],
  ['max-age=86400', 3_600],
  ['max-age=soon', 3_600],
  ['no-store', 3_600],
  ['no-cache, private, must-revalidate', 3_600],
];

test.each(LIVES)('with Cache-Control %s its TTL is %i seconds', async (cacheControl, seconds) => {
  await using world = await openCatalogWorld();
  world.sandbox.changeCatalog({ cacheControl });
  const { fetchedAt, expiresAt } = await world.catalogs.read(world.viewer());
  expect((expiresAt.getTime() - fetchedAt.getTime()) / 1000).toBe(seconds);
});

test.each([3_600, 7_200])(
  'one of %i seconds when received is served as stale and fetched again after a minute',
  async (ageSeconds) => {
    await using world = await openCatalogWorld();
    const viewer = world.viewer();
    world.sandbox.changeCatalog({ ageSeconds });
    const view = await world.catalogs.read(viewer);
    expect(view).toMatchObject({ stale: true, freshSeconds: 0 });
    expect(view.ageSeconds).toBe(ageSeconds);
    await world.clock.advance(MINUTE_MS - 1);
    expect(world.catalogs.read(viewer)).toMatchObject({ stale: true });
    expect(world.fetches()).toBe(1);
    world.sandbox.changeCatalog({ change: 1, ageSeconds: 10 });
    await world.clock.advance(1);
    expect(await world.catalogs.read(viewer)).toMatchObject({ stale: false });
    expect(world.fetches()).toBe(2);
  },
);
