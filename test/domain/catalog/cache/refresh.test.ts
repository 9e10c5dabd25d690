import { expect, test } from 'vitest';
import type { CatalogView } from '../../../../src/domain/catalog/catalogs.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  type CatalogWorld,
  FRESH,
  HOUR_MS,
  MINUTE_MS,
  openCatalogWorld,
} from '../catalog-world.ts';

const LAST_FIFTH_MS = HOUR_MS * 0.8;

function down(world: CatalogWorld): void {
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 503 });
}

/** A refresh is complete once its call has been answered and the catalog can be read. */
function fetched(world: CatalogWorld, times: number): Promise<boolean> {
  return eventually(() => world.fetches() === times);
}

test('in the last fifth of its TTL a read starts one refresh, which no reader waits for', async () => {
  await using world = await openCatalogWorld();
  const sources: string[] = [];
  const viewer = world.viewer({ receipt: ({ source }) => sources.push(source) });
  const { version } = await world.catalogs.read(viewer);
  expect(sources).toEqual(['call']);
  world.sandbox.changeCatalog({ change: 1, ageSeconds: null });
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'delay', delayMs: 30 });
  await world.clock.advance(LAST_FIFTH_MS);
  for (let read = 0; read < 50; read += 1) {
    const view = world.catalogs.read(viewer);
    expect(view).not.toBeInstanceOf(Promise);
    expect((view as CatalogView).version).toBe(version);
  }
  await fetched(world, 2);
  await world.clock.advance(30);
  await eventually(() => (world.catalogs.read(viewer) as CatalogView).version !== version);
  expect(world.catalogs.read(viewer)).toMatchObject({ stale: false, ageSeconds: 0 });
  expect(world.catalogs.heldSize).toBe(version.size);
  expect(world.fetches()).toBe(2);
  expect(sources.filter((source) => source === 'call')).toHaveLength(1);
  expect(sources).toContain('cache');
});

test('with an ETag the refresh is conditional, and a 304 renews the age', async () => {
  const outcomes: string[] = [];
  await using world = await openCatalogWorld({ onFetched: (each) => void outcomes.push(each) });
  const viewer = world.viewer();
  const { version } = await world.catalogs.read(viewer);
  await world.clock.advance(LAST_FIFTH_MS);
  void world.catalogs.read(viewer);
  await eventually(() => (world.catalogs.read(viewer) as CatalogView).ageSeconds === 0);
  const [first, second] = world.sandbox.requests('getAllTickers');
  expect(first?.headers['if-none-match']).toBeUndefined();
  expect(second?.headers['if-none-match']).toMatch(/^W\/"/);
  expect(outcomes).toEqual(['modified', 'unmodified']);
  expect((world.catalogs.read(viewer) as CatalogView).version).toBe(version);
});

test('a refresh that brings a copy in the last fifth of its TTL is not repeated within a minute', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  world.sandbox.changeCatalog({ ageSeconds: 3_000 });
  const first = await world.catalogs.read(viewer);
  // From then on a read starts a refresh.
  world.sandbox.changeCatalog({ ageSeconds: LAST_FIFTH_MS / 1_000 });
  void world.catalogs.read(viewer);
  await eventually(
    () => (world.catalogs.read(viewer) as CatalogView).ageSeconds < first.ageSeconds,
  );
  for (let read = 0; read < 10; read += 1) void world.catalogs.read(viewer);
  await world.clock.advance(MINUTE_MS - 1);
  void world.catalogs.read(viewer);
  await world.clock.advance(0);
  expect(world.fetches()).toBe(2);
  await world.clock.advance(1);
  void world.catalogs.read(viewer);
  await fetched(world, 3);
});

test.each([401, 403])(
  'a %i concerns its token alone: the next reader’s is tried',
  async (status) => {
    const outcomes: string[] = [];
    await using world = await openCatalogWorld({ onFetched: (each) => void outcomes.push(each) });
    const [refused, other] = [world.viewer(), world.viewer({ email: FRESH })];
    await world.catalogs.read(other);
    await world.catalogs.read(refused);
    await world.clock.advance(LAST_FIFTH_MS);
    world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status, login: 700001 });
    void world.catalogs.read(refused);
    await fetched(world, 2);
    world.sandbox.changeCatalog({ change: 1, ageSeconds: null });
    await eventually(() => (world.catalogs.read(other) as CatalogView).ageSeconds === 0);
    expect(world.fetches()).toBe(3);
    expect(outcomes).toEqual(['modified', 'personal', 'modified']);
  },
);

test('a refused token does not start one refresh after another', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  await world.gateway.getSession(viewer);
  await world.clock.advance(LAST_FIFTH_MS);
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 403 });
  void world.catalogs.read(viewer);
  await fetched(world, 2);
  await world.clock.advance(1_000);
  for (let read = 0; read < 10; read += 1) await world.catalogs.read(viewer);
  await world.clock.advance(1_000);
  expect(world.fetches()).toBe(2);
});

test('after its stale-if-error time it is no longer served', async () => {
  await using world = await openCatalogWorld({ staleMs: 10 * MINUTE_MS });
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  down(world);
  await world.clock.advance(HOUR_MS + 10 * MINUTE_MS - 1);
  expect(world.catalogs.figures).toMatchObject([{ group: 'standard-usd', isStale: true }]);
  await world.clock.advance(1);
  expect(world.catalogs.figures).toMatchObject([{ group: 'standard-usd', isStale: false }]);
  await expect(world.catalogs.read(viewer)).rejects.toMatchObject({ kind: 'unavailable' });
  world.sandbox.clearFaults();
  expect(await world.catalogs.read(viewer)).toMatchObject({ stale: false });
});

test('while the gateway fails not every read calls it, and readers do not wait for it', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  down(world);
  await world.clock.advance(HOUR_MS);
  expect(world.catalogs.figures).toMatchObject([{ isStale: true }]);
  await world.catalogs.read(viewer);
  const asked = world.fetches();
  for (let second = 0; second < 60; second += 1) {
    expect(world.catalogs.read(viewer)).not.toBeInstanceOf(Promise);
    await world.clock.advance(1_000);
  }
  expect(world.fetches() - asked).toBeGreaterThan(1);
  expect(world.fetches() - asked).toBeLessThan(12);
});
