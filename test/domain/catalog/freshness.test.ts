import { expect, test } from 'vitest';
import type { CatalogView } from '../../../src/domain/catalog/catalogs.ts';
import { timesOf } from '../../../src/domain/catalog/group-catalog.ts';
import type { CatalogAnswer } from '../../../src/gateway/operations/get-all-tickers.ts';
import { eventually } from '../../support/eventually.ts';
import { type CatalogWorld, FRESH, HOUR_MS, MINUTE_MS, openCatalogWorld } from './catalog-world.ts';

test('a catalog is served without a call until the last fifth of its maximum age', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  await world.clock.advance(HOUR_MS * 0.8 - 1);
  const view = world.catalogs.read(viewer) as CatalogView;
  expect(view).toMatchObject({ stale: false, ageSeconds: 2_879 });
  // While the gateway fails, the catalog can be served for a millisecond, the last 720 seconds and another hour.
  expect(world.catalogs.figures).toMatchObject([{ leftSeconds: 4_320.001 }]);
  expect(world.fetches()).toBe(1);
  expect(world.log).toEqual([]);
});

const SENT_AT_MS = Date.UTC(2026, 0, 5, 12);

/** The age of an answer with these headers, and the time until it expires, in seconds. */
function secondsOf(headers: CatalogAnswer['headers'], sentAtMs = SENT_AT_MS) {
  const { initialAgeMs, expiresMs } = timesIn(headers, sentAtMs);
  return [initialAgeMs / 1_000, (expiresMs - sentAtMs) / 1_000];
}

function timesIn(headers: CatalogAnswer['headers'], sentAtMs: number, isRefresh = false) {
  const answer = { headers, sentAtMs, receivedAtMs: sentAtMs } as CatalogAnswer;
  const options = { maxAgeMs: HOUR_MS, staleMs: HOUR_MS, gatewayDate: (ms: number) => ms };
  return timesOf(answer, options, { isProvisional: false, isRefresh });
}

// A catalog is kept for a minute at least. Only its first Age counts, and an invalid Age counts as 0.
test.each([
  ['3500, 100', 3_500, 100],
  [' 3500 ,100', 3_500, 100],
  ['99999999999', 2_000_000_000, 60],
  ['9'.repeat(400), 2_000_000_000, 60],
  ['-5', 0, 3_600],
  ['1e3', 0, 3_600],
  ['soon, 100', 0, 3_600],
])('an Age of %s counts as %i seconds, and leaves %i seconds', (age, aged, left) => {
  expect(secondsOf({ age })).toEqual([aged, left]);
});

// The TTL is a minute at least, and at most the maximum age of an hour.
test.each([
  ['max-age=600', 600],
  ['public, max-age=600, s-maxage=300', 300],
  ['s-maxage="120"', 120],
  ['max-age=5', 60],
  ['max-age=0', 60],
  ['max-age=86400', 3_600],
  ['max-age=soon', 3_600],
  ['no-cache, private, must-revalidate, no-store', 3_600],
])('with Cache-Control %s its TTL is %i seconds', (cacheControl, seconds) => {
  expect(secondsOf({ 'cache-control': cacheControl })).toEqual([0, seconds]);
});

test('a Date counts as an age from one second on', () => {
  const date = new Date(SENT_AT_MS).toUTCString();
  expect(secondsOf({ date }, SENT_AT_MS + 1_000)[0]).toBe(1);
  expect(secondsOf({ date }, SENT_AT_MS + 999)[0]).toBe(0);
});

test('a refresh that brings a copy in the last fifth of its TTL is not repeated within a minute', () => {
  const refreshFrom = (age: string, isRefresh: boolean) =>
    timesIn({ age }, SENT_AT_MS, isRefresh).refreshFromMs - SENT_AT_MS;
  // The last fifth of an hour begins at an age of 2,880 seconds.
  expect(refreshFrom('2879', true)).toBe(1_000);
  expect(refreshFrom('2880', true)).toBe(MINUTE_MS);
  // For the copy of a first fetch this time is in the past, so the next read refreshes the copy.
  expect(refreshFrom('2881', false)).toBe(-1_000);
});

test('the age counts from the time when the call was sent', async () => {
  await using world = await openCatalogWorld();
  world.sandbox.changeCatalog({ ageSeconds: 100 });
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'delay', delayMs: 3_000 });
  const reading = world.catalogs.read(world.viewer());
  await eventually(() => expect(world.fetches()).toBe(1));
  await world.clock.advance(3_000);
  const view = await reading;
  const sentAtMs = world.clock.now() - 3_000;
  expect(view.fetchedAt).toEqual(new Date(sentAtMs));
  expect(view.ageSeconds).toBe(103);
  expect(view.expiresAt).toEqual(new Date(sentAtMs + HOUR_MS - 100_000));
});

test.each([3_600, 7_200])(
  'a copy that is %i seconds old when received is served as stale and fetched again after a minute',
  async (ageSeconds) => {
    await using world = await openCatalogWorld();
    const viewer = world.viewer();
    world.sandbox.changeCatalog({ ageSeconds });
    const stale = { stale: true, ageSeconds };
    expect(await world.catalogs.read(viewer)).toMatchObject(stale);
    await world.clock.advance(MINUTE_MS - 1);
    expect(world.catalogs.read(viewer)).toMatchObject({ stale: true });
    expect(world.fetches()).toBe(1);
    world.sandbox.changeCatalog({ change: 1, ageSeconds: 10 });
    await world.clock.advance(1);
    expect(await world.catalogs.read(viewer)).toMatchObject({ stale: false });
    expect(world.fetches()).toBe(2);
  },
);

/** The age at which the last fifth of the TTL begins. */
const LAST_FIFTH_MS = HOUR_MS * 0.8;

function takeDown(world: CatalogWorld): void {
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 503 });
}

/** Waits until op 1 was called this many times. */
function fetched(world: CatalogWorld, times: number): Promise<void> {
  return eventually(() => expect(world.fetches()).toBe(times));
}

test('in the last fifth of the TTL reads start one refresh, and no reader waits for it', async () => {
  await using world = await openCatalogWorld();
  const sources: string[] = [];
  const viewer = world.viewer({
    receipt({ operation, source }) {
      if (operation === 'getAllTickers') sources.push(source);
    },
  });
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
  expect(world.catalogs.largestSize).toBe(version.size);
  expect(world.fetches()).toBe(2);
  expect(sources.filter((source) => source === 'call')).toHaveLength(1);
  expect(sources).toContain('cache');
});

test.each([401, 403])(
  'after a %i to one reader’s token the catalog is refreshed with another reader’s token',
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
    await world.clock.advance(1_000);
    world.sandbox.changeCatalog({ change: 1, ageSeconds: null });
    await eventually(() => expect((world.catalogs.read(other) as CatalogView).ageSeconds).toBe(0));
    expect(world.fetches()).toBe(3);
    expect(outcomes).toEqual(['modified', 'personal', 'modified']);
  },
);

test('after a refused refresh no read starts another refresh for a second', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  await world.gateway.getSession(viewer);
  await world.clock.advance(LAST_FIFTH_MS);
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 403 });
  void world.catalogs.read(viewer);
  await fetched(world, 2);
  await world.clock.advance(0);
  for (let read = 0; read < 10; read += 1) await world.catalogs.read(viewer);
  expect(world.fetches()).toBe(2);
});

test('while the gateway fails, the old catalog is served for a limited time, and few reads call the gateway', async () => {
  await using world = await openCatalogWorld({ staleMs: 10 * MINUTE_MS });
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  takeDown(world);
  await world.clock.advance(HOUR_MS);
  await world.catalogs.read(viewer);
  const before = world.fetches();
  for (let second = 0; second < 60; second += 1) {
    expect(world.catalogs.read(viewer)).not.toBeInstanceOf(Promise);
    await world.clock.advance(1_000);
  }
  expect(world.fetches() - before).toBeGreaterThan(1);
  expect(world.fetches() - before).toBeLessThan(12);
  await world.clock.advance(9 * MINUTE_MS - 1);
  expect(world.catalogs.figures).toMatchObject([{ group: 'standard-usd', isStale: true }]);
  await world.clock.advance(1);
  expect(world.catalogs.figures).toMatchObject([{ group: 'standard-usd', isStale: false }]);
  await expect(world.catalogs.read(viewer)).rejects.toMatchObject({ kind: 'unavailable' });
  world.sandbox.clearFaults();
  expect(await world.catalogs.read(viewer)).toMatchObject({ stale: false });
});

test('the first reader of an expired catalog waits for a new catalog if the last failure was minutes ago', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  takeDown(world);
  await world.clock.advance(LAST_FIFTH_MS);
  await world.catalogs.read(viewer);
  await eventually(() => expect(world.log).toHaveLength(1));
  world.sandbox.clearFaults();
  await world.clock.advance(HOUR_MS - LAST_FIFTH_MS);
  expect(await world.catalogs.read(viewer)).toMatchObject({ stale: false, ageSeconds: 0 });
});
