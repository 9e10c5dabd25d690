import { describe, expect, test } from 'vitest';
import { groupKey, type Viewer } from '../../../src/domain/auth/viewer.ts';
import type { CatalogView } from '../../../src/domain/catalog/catalogs.ts';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { sessionWith } from '../../gateway/wire/rows.ts';
import { eventually } from '../../support/eventually.ts';
import { viewerBut, viewerOf } from '../viewer.ts';
import {
  type CatalogWorld,
  DEMO,
  FRESH,
  HOUR_MS,
  MINUTE_MS,
  openCatalogWorld,
  PRO,
} from './catalog-world.ts';

test('concurrent readers with different tokens share one call for the catalog, but each token is proved', async () => {
  await using world = await openCatalogWorld();
  const viewers = Array.from({ length: 20 }, (_, index) =>
    world.viewer({ email: index % 2 ? DEMO : FRESH }),
  );
  await Promise.all(viewers.map((viewer) => world.catalogs.read(viewer)));
  expect(world.fetches()).toBe(1);
  expect(world.sandbox.calls('getSession')).toBe(20);
});

test('a group whose name looks like another tenant’s key has its own key', () => {
  const tenant = viewerOf('token', { forwarded: { pairs: ['x-tenant', 'a'], digest: 'digest' } });
  const names = ['usd', 'usd~', 'usd~digest', 'usd~~digest', 'usd~digest~digest'];
  const keys = [tenant, viewerOf('token')].flatMap((viewer) =>
    names.map((name) => groupKey(viewer, name)),
  );
  expect(new Set(keys).size).toBe(keys.length);
  expect(groupKey(viewerOf('token'), 'usd')).toBe('usd');
});

test('a forged token gets nothing from a call under way, and makes no call for the catalog', async () => {
  await using world = await openCatalogWorld();
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'delay', delayMs: 50, times: 1 });
  const first = world.catalogs.read(world.viewer());
  await eventually(() => expect(world.fetches()).toBe(1));
  const forged = world.viewer({ forged: true });
  await expect(world.catalogs.read(forged)).rejects.toMatchObject({ kind: 'unauthenticated' });
  await world.clock.advance(50);
  expect((await first).group).toBe('standard-usd');
  expect(world.fetches()).toBe(1);
});

test('readers that wait for the call of a refused token fetch the catalog themselves', async () => {
  await using world = await openCatalogWorld();
  const viewers = [world.viewer(), world.viewer({ email: FRESH }), world.viewer({ email: FRESH })];
  for (const viewer of viewers) await world.gateway.getSession(viewer);
  const refusal = { kind: 'status', status: 401, login: 700001 } as const;
  world.sandbox.fail({ operation: 'getAllTickers', ...refusal });
  const [refused, ...others] = viewers.map((viewer) => world.catalogs.read(viewer));
  await expect(refused).rejects.toMatchObject({ kind: 'unauthenticated' });
  const views = await Promise.all(others);
  expect(views.map(({ group }) => group)).toEqual(['standard-usd', 'standard-usd']);
  expect(world.fetches()).toBe(2);
});

test('a token that is refused while it waits for the catalog does not get it', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  await world.gateway.getSession(viewer);
  world.sandbox.fail({ operation: 'getAllTickers', kind: 'delay', delayMs: 50, times: 1 });
  const waiting = world.catalogs.read(viewer);
  const refused = expect(waiting).rejects.toMatchObject({ kind: 'unauthenticated' });
  await eventually(() => expect(world.fetches()).toBe(1));
  world.sandbox.revoke({ login: 700001 });
  await expect(world.gateway.read(viewer, OPERATIONS.getCustomerId)).rejects.toThrow();
  await world.clock.advance(50);
  await refused;
  // The call of the refused token succeeded, so other readers get the catalog without another call.
  expect((await world.catalogs.read(world.viewer({ email: FRESH }))).group).toBe('standard-usd');
  expect(world.fetches()).toBe(1);
});

test('a token that is refused during a failing refresh does not get the old catalog', async () => {
  await using world = await openCatalogWorld();
  const viewer = world.viewer();
  await world.catalogs.read(viewer);
  await world.clock.advance(HOUR_MS);
  const failing = { operation: 'getAllTickers', kind: 'status', status: 500 } as const;
  world.sandbox.fail({ ...failing, delayMs: 50, times: 1 });
  const refused = expect(world.catalogs.read(viewer)).rejects.toThrow();
  await eventually(() => expect(world.fetches()).toBe(2));
  world.sandbox.revoke({ login: 700001 });
  await expect(world.gateway.read(viewer, OPERATIONS.getCustomerId)).rejects.toThrow();
  await world.clock.advance(50);
  await refused;
});

describe('a reader of only positions and the catalog', () => {
  const failing = { operation: 'getAllTickers', kind: 'status', status: 500 } as const;
  /** Reads the positions, which proves the token, and then the catalog. */
  async function readBoth(world: CatalogWorld, viewer: Viewer): Promise<CatalogView> {
    await world.gateway.getOpenPositions(viewer, null);
    return world.catalogs.read(viewer);
  }
  /** Opens a world whose reader has the catalog. `setSnapshot` sets later answers of op 10. */
  async function openReader() {
    const world = await openCatalogWorld({ proofMs: MINUTE_MS, staleMs: 5 * MINUTE_MS });
    const viewer = world.viewer();
    await readBoth(world, viewer);
    const setSnapshot = (status: number, body?: object) => {
      const answer = { status, ...(body && { body }) };
      world.sandbox.fail({ operation: 'getSession', kind: 'status', ...answer });
    };
    const dispose = () => world[Symbol.asyncDispose]();
    return { world, viewer, setSnapshot, [Symbol.asyncDispose]: dispose };
  }

  test('whose account was moved gets the new group’s catalog once the proof of the old group has expired', async () => {
    await using reader = await openReader();
    const { world, viewer, setSnapshot } = reader;
    await world.catalogs.read(world.viewer({ email: PRO }));
    await world.gateway.getSession(viewer);
    setSnapshot(200, sessionWith({ login: 700001, group: 'pro-usd' }));
    await world.clock.advance(MINUTE_MS - 1);
    expect((await readBoth(world, viewer)).group).toBe('standard-usd');
    await world.clock.advance(1);
    const before = world.sandbox.calls('getSession');
    const views = await Promise.all(Array.from({ length: 20 }, () => readBoth(world, viewer)));
    expect(new Set(views.map(({ group }) => group))).toEqual(new Set(['pro-usd']));
    await readBoth(world, viewer);
    // All these reads shared one call.
    expect(world.sandbox.calls('getSession')).toBe(before + 1);
  });

  test.each([401, 403])('loses the old group at once with a %i', async (status) => {
    await using reader = await openReader();
    const { world, viewer, setSnapshot } = reader;
    await world.clock.advance(MINUTE_MS);
    setSnapshot(status);
    world.sandbox.fail({ ...failing, status: 403 });
    await expect(world.catalogs.read(viewer)).rejects.toThrow();
  });

  test('whose proof of the group has expired gets no cached copy until the proof is renewed', async () => {
    await using reader = await openReader();
    const { world, viewer, setSnapshot } = reader;
    setSnapshot(500);
    world.sandbox.fail(failing);
    await world.clock.advance(MINUTE_MS - 1);
    expect((await readBoth(world, viewer)).group).toBe('standard-usd');
    await world.clock.advance(1);
    await expect(readBoth(world, viewer)).rejects.toMatchObject({ kind: 'unavailable' });
    // Another operation proves the token, so op 1 can confirm the group although op 10 fails.
    world.sandbox.clearFaults();
    setSnapshot(500);
    expect((await readBoth(world, viewer)).group).toBe('standard-usd');
  });
});

test('while op 10 fails, a token that no other operation has proved gets no catalog', async () => {
  await using world = await openCatalogWorld();
  await world.catalogs.read(world.viewer());
  world.sandbox.fail({ operation: 'getSession', kind: 'status', status: 403 });
  const fresh = world.viewer({ email: FRESH });
  await expect(world.catalogs.read(fresh)).rejects.toMatchObject({ kind: 'forbidden' });
  expect(world.fetches()).toBe(1);
});

test('if the snapshot names no group, op 1 has to confirm the claimed group', async () => {
  await using world = await openCatalogWorld();
  await world.catalogs.read(world.viewer());
  for (const login of [700002, 700003]) {
    const body = sessionWith({ login, group: undefined });
    world.sandbox.fail({ operation: 'getSession', kind: 'status', status: 200, body, login });
  }
  const fresh = world.viewer({ email: FRESH });
  expect((await world.catalogs.read(fresh)).group).toBe('standard-usd');
  const claiming = viewerBut(world.viewer({ email: PRO }), { claimedGroup: 'standard-usd' });
  await expect(world.catalogs.read(claiming)).rejects.toMatchObject({ kind: 'forbidden' });
});

test('a token that still claims its account’s former group reads the group of the snapshot', async () => {
  await using world = await openCatalogWorld();
  const moved = viewerBut(world.viewer(), { claimedGroup: 'pro-usd' });
  expect((await world.catalogs.read(moved)).group).toBe('standard-usd');
});

test('a catalog larger than the memory limit is cached, until another catalog replaces it', async () => {
  await using world = await openCatalogWorld({ maxBytes: 10_000 });
  const demo = world.viewer();
  const pro = world.viewer({ email: PRO });
  await world.catalogs.read(demo);
  await world.catalogs.read(demo);
  expect(world.fetches()).toBe(1);
  // Each read evicts the other group's catalog.
  await world.catalogs.read(pro);
  await world.catalogs.read(demo);
  expect(world.fetches()).toBe(3);
});
