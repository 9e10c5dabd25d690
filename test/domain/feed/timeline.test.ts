import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Delta, Timeline } from '../../../src/domain/feed/timeline.ts';
import type { Position } from '../../../src/gateway/operations/holdings.ts';
import { sameBesidesPrices, samePosition } from '../../../src/gateway/operations/holdings.ts';
import { position } from './scripted-gateway.ts';

/** A timeline whose lists have the versions 1, 3, 5, …. The versions in between belong to other lists of the account. */
function createTimeline() {
  const timeline = new Timeline<Position>(samePosition, sameBesidesPrices);
  let version = -1;
  return {
    timeline,
    /** Adds the next list, and returns its version. */
    advance(list: readonly Position[]): number {
      version += 2;
      timeline.advance(list, version);
      return version;
    },
  };
}

const a = position('a');
const b = position('b');

test('a reader gets only the rows that have changed since its version', () => {
  const { timeline, advance } = createTimeline();
  const priced = (id: string, priceCurrent: number) => position(id, { priceCurrent });
  // Version 1 changed a, version 3 changed b, version 5 changed a again.
  advance([priced('a', 1), b]);
  advance([priced('a', 1), priced('b', 2)]);
  const list = [priced('a', 3), priced('b', 2)];
  advance(list);
  expect(timeline.changes(1, false)?.upserted.map(({ id }) => id)).toEqual(['a', 'b']);
  advance([...list, position('c')]);
  expect(timeline.changes(3, false)?.upserted.map(({ id }) => id)).toEqual(['a', 'c']);
});

test('a comparison considers every field', () => {
  for (const field of Object.keys(a) as (keyof Position)[]) {
    const other = { ...a, [field]: 'another' };
    expect(samePosition(a, other), field).toBe(false);
    const isMoving = ['priceCurrent', 'profit', 'rateProfit', 'updatedAt'].includes(field);
    expect(sameBesidesPrices(a, other), field).toBe(isMoving);
  }
  expect(samePosition(a, { ...a })).toBe(true);
});

const listOfPositions = fc
  .uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 10 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc.tuple(fc.nat(2), fc.nat(1)).map(([price, units]) => ({ id, price, units })),
      ),
    ),
  )
  .map((rows) =>
    rows.map(({ id, price, units }) => position(String(id), { priceCurrent: price, units })),
  );

test('the delta from any version turns the list of that version into the last list', () => {
  fc.assert(
    fc.property(fc.array(listOfPositions, { minLength: 1, maxLength: 30 }), (lists) => {
      const { timeline, advance } = createTimeline();
      const byVersion = new Map<number, readonly Position[]>();
      for (const list of lists) byVersion.set(advance(list), list);
      for (const [version, list] of byVersion) {
        const delta = timeline.changes(version, false) as Delta<Position>;
        // Rows of which only the price has changed are ticks here.
        const withTicks = timeline.changes(version, true) as Delta<Position>;
        expect(timeline.changes(version + 1, true)).toEqual(withTicks);
        expect(delta.ticks).toEqual([]);
        expect(sorted([...withTicks.upserted, ...withTicks.ticks])).toEqual(sorted(delta.upserted));
        expect(sorted(applied(list, withTicks))).toEqual(sorted(timeline.rows));
        const known = new Set(list.map(({ id }) => id));
        expect(delta.closed.every((id) => known.has(id))).toBe(true);
        expect(delta.opened.some((id) => known.has(id))).toBe(false);
        expect(sorted(applied(list, delta))).toEqual(sorted(timeline.rows));
      }
    }),
    { numRuns: 300 },
  );
});

/** The list after a client has applied the delta. */
function applied(
  list: readonly Position[],
  { upserted, ticks, closed }: Delta<Position>,
): Position[] {
  const rows = new Map(list.map((row) => [row.id, row]));
  for (const id of closed) rows.delete(id);
  for (const row of upserted) rows.set(row.id, row);
  for (const { id, priceCurrent } of ticks)
    rows.set(id, { ...(rows.get(id) as Position), priceCurrent });
  return [...rows.values()];
}

function sorted(list: readonly Position[]): Position[] {
  return list.toSorted((x, y) => (x.id < y.id ? -1 : 1));
}
