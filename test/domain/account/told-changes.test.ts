import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createToldChanges } from '../../../src/domain/account/told-changes.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { eventually } from '../../support/eventually.ts';
import { openCatalogWorld, PRO } from '../catalog/catalog-world.ts';

const STANDARD = { kind: 'group', name: 'standard-usd' } as const;
const FAILING = { operation: 'getAllTickers', kind: 'status', status: 500 } as const;

/** Live lists of these viewers, and what is told of their groups. */
async function openTold(pollsPerSecond = 500) {
  const world = await openCatalogWorld();
  const viewers = { demo: world.viewer(), pro: world.viewer({ email: PRO }) };
  for (const viewer of Object.values(viewers)) await world.catalogs.read(viewer);
  let reads = 0;
  const listOf = (viewer: Viewer) => ({
    tokens: { viewer },
    accountChanged() {
      reads += 1;
    },
  });
  const all = Object.values(viewers).map(listOf);
  const tell = createToldChanges({
    accounts: new EventEmitter(),
    sessions: { forgetGroup() {} },
    catalogs: world.catalogs,
    ledger: world.ledger,
    lists: () => [['positions', { all, get: () => undefined }, false]],
    clock: world.clock,
    pollsPerSecond,
  });
  return {
    ...world,
    ...viewers,
    all,
    listOf,
    tell,
    reads: () => reads,
    read: async (viewer: Viewer) => world.catalogs.read(viewer),
  };
}

test('a group that is told has its catalog fetched anew once, for whoever follows a list, and no other group has', async () => {
  await using world = await openTold();
  const { version } = await world.read(world.demo);
  world.sandbox.changeCatalog({ add: 1 });
  await world.clock.advance(10_000);
  const before = world.fetches();
  world.tell(STANDARD);
  expect(await world.read(world.demo)).toMatchObject({ version, stale: true });
  expect(await world.read(world.pro)).toMatchObject({ stale: false });
  await eventually(async () =>
    expect(await world.read(world.demo)).toMatchObject({ stale: false, ageSeconds: 0 }),
  );
  expect((await world.read(world.demo)).version).not.toBe(version);
  expect(world.fetches()).toBe(before + 1);
  await world.clock.advance(1_000);
  await new Promise(setImmediate);
  expect(world.reads()).toBe(1);
});

test('a catalog that was asked for just before, or in vain, is fetched anew a while later by its next reader', async () => {
  await using world = await openTold();
  world.tell(STANDARD);
  await world.clock.advance(9_999);
  const before = world.fetches();
  expect(await world.read(world.demo)).toMatchObject({ stale: true });
  expect(world.fetches()).toBe(before);
  world.sandbox.fail({ ...FAILING, delayMs: 1 });
  await world.clock.advance(1);
  await world.read(world.demo);
  await eventually(() => expect(world.fetches()).toBe(before + 1));
  // It is told while its call is under way.
  for (let n = 0; n < 5; n += 1) {
    world.tell(STANDARD);
    await world.read(world.demo);
  }
  await world.clock.advance(1);
  await eventually(() => expect(world.log).toHaveLength(1));
  for (let n = 0; n < 5; n += 1) {
    world.tell(STANDARD);
    await world.read(world.demo);
  }
  expect(world.fetches()).toBe(before + 1);
  world.sandbox.clearFaults();
  await world.clock.advance(30_000);
  await world.read(world.demo);
  await eventually(async () =>
    expect(await world.read(world.demo)).toMatchObject({ stale: false }),
  );
  expect(world.fetches()).toBe(before + 2);
});

test('what is told while the catalog is under way is fetched behind it', async () => {
  await using world = await openTold();
  await world.clock.advance(10_000);
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'delay', delayMs: 50, times: 1 });
  world.tell(STANDARD);
  const before = world.fetches();
  await eventually(() => expect(world.fetches()).toBe(before + 1));
  world.tell(STANDARD);
  await world.clock.advance(50);
  await eventually(async () =>
    expect(await world.read(world.demo)).toMatchObject({ ageSeconds: 0, stale: true }),
  );
  await world.clock.advance(10_000);
  await world.read(world.demo);
  await eventually(async () =>
    expect(await world.read(world.demo)).toMatchObject({ stale: false }),
  );
  expect(world.fetches()).toBe(before + 2);
});

test('lists that are told are read within half of the ceiling of polls, however low it is', async () => {
  for (const [pollsPerSecond, most] of [
    [1, 5],
    [10, 50],
    [500, 102],
  ] as const) {
    await using world = await openTold(pollsPerSecond);
    for (let n = 0; n < 100; n += 1) world.all.push(world.listOf(world.demo));
    for (let seconds = 0; seconds < 10; seconds += 1) {
      world.tell({ kind: 'list', name: 'positions' });
      for (let slice = 0; slice < 10; slice += 1) {
        await world.clock.advance(100);
        await new Promise(setImmediate);
      }
      if (pollsPerSecond === 500) break;
    }
    expect(world.reads()).toBeLessThanOrEqual(most);
    expect(world.reads()).toBeGreaterThanOrEqual(most - 5);
  }
});
