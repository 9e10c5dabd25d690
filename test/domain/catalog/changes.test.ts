import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import {
  buildVersion,
  type CatalogChanges,
  type CatalogVersion,
  History,
} from '../../../src/domain/catalog/catalog-version.ts';
import type { Instrument } from '../../../src/gateway/operations/get-all-tickers.ts';
import { turnsDuring } from '../../support/turns.ts';
import { instrument } from './instruments.ts';

const IDS = ['A', 'B', 'BRK.B', 'C', 'EUR/USD', '__proto__', 'constructor', 'É', '🚀'];
const contents = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...IDS), fc.integer({ min: 1, max: 3 })), {
    selector: ([id]) => id,
  })
  .map((rows) => rows.map(([id, leverage]) => instrument(id, { leverage })));

/** Applies the changes as a client does. */
function apply(known: ReadonlyMap<string, Instrument>, changes: CatalogChanges) {
  const next = new Map(changes.reset ? [] : known);
  for (const id of changes.removed) next.delete(id);
  for (const each of changes.upserted) next.set(each.id, each);
  return next;
}

test('applying the changes to any remembered version gives exactly the new catalog', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(contents, { minLength: 1, maxLength: 8 }), async (all) => {
      const history = new History(1_000_000);
      const versions: CatalogVersion[] = [];
      for (const each of all) {
        const previous = versions.at(-1) ?? null;
        const version = await buildVersion(each, previous);
        history.add(version);
        versions.push(version);
      }
      for (const [index, to] of versions.entries()) {
        const { version } = to;
        const none = { version, reset: false, upserted: [], removed: [] };
        expect(history.changes(version, to)).toEqual(none);
        const earlier = versions.slice(0, index);
        for (const from of earlier) {
          if (from.version === to.version) continue;
          const changes = history.changes(from.version, to);
          expect(changes.reset).toBe(false);
          expect(apply(from.byId, changes)).toEqual(new Map(to.byId));
          // Nothing is sent that has not changed.
          for (const { id } of changes.upserted) {
            expect(from.digests.get(id)).not.toBe(to.digests.get(id));
          }
          for (const id of changes.removed) expect(from.byId.has(id)).toBe(true);
          expect(changes.removed).toEqual(changes.removed.toSorted());
        }
      }
    }),
  );
});

test('the version depends on every field of the instruments, but not on their order', async () => {
  const rows = IDS.map((id) => instrument(id));
  const version = await buildVersion(rows, null);
  const reversed = await buildVersion(rows.toReversed(), null);
  expect(reversed).toMatchObject({ version: version.version, instruments: version.instruments });
  expect(await buildVersion(rows.toReversed(), version)).toBe(version);
  const plain = instrument('A');
  const versions = new Set<string>();
  for (const key of Object.keys(plain) as (keyof Instrument)[]) {
    if (key === 'id') continue;
    const changed = await buildVersion([{ ...plain, [key]: 'another' }], null);
    versions.add(changed.version);
  }
  expect(versions.size).toBe(Object.keys(plain).length - 1);
});

test('the history of a group is bounded, and its oldest version is evicted first', async () => {
  const history = new History(3_000);
  const versions: CatalogVersion[] = [];
  for (let leverage = 10; leverage < 60; leverage += 1) {
    const version = await buildVersion([instrument('A', { leverage })], versions.at(-1) ?? null);
    history.add(version);
    versions.push(version);
    expect(history.bytes).toBeLessThanOrEqual(3_000);
  }
  const current = versions.pop() as CatalogVersion;
  const isKnown = versions.map(({ version }) => !history.changes(version, current).reset);
  expect(isKnown[0]).toBe(false);
  expect(isKnown.at(-1)).toBe(true);
  // All evicted versions are older than the known versions.
  expect(isKnown.indexOf(true)).toBe(isKnown.lastIndexOf(false) + 1);
});

test('a version and its index are built in slices', async () => {
  const rows = Array.from({ length: 50 }, (_, index) => instrument(`S${index}`));
  // Each reading of the clock advances the clock by 5 ms, so each row takes as long as a slice.
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += 5;
    return nowMs;
  });
  const { length } = rows;
  // Once for the version, and once for its index.
  expect(await turnsDuring(() => buildVersion(rows, null))).toBeGreaterThanOrEqual(2 * length - 1);
});
