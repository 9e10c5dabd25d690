import { expect, test } from 'vitest';
import { Timeline } from '../../../src/domain/feed/timeline.ts';
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
  // The row c closes in version 9 and opens again in version 11, so since version 7 it has neither opened nor closed.
  advance(list);
  advance([...list, position('c')]);
  expect(timeline.changes(7, false)).toMatchObject({ opened: [], closed: [] });
  expect(timeline.changes(9, false)).toMatchObject({ upserted: [{ id: 'c' }], opened: ['c'] });
});

test('a row of which only prices have changed is a tick, and the rows have the sequence of the last list', () => {
  const { timeline, advance } = createTimeline();
  const moved = [position('a', { priceCurrent: 1 }), position('b', { comment: 'new' })];
  advance([a, b]);
  advance(moved);
  const both = { ticks: [{ id: 'a' }], upserted: [{ id: 'b' }] };
  expect(timeline.changes(1, true)).toMatchObject(both);
  // Without a comparison for it no field is moving.
  const unmoving = new Timeline<Position>(samePosition);
  unmoving.advance([a, b], 1);
  unmoving.advance(moved, 2);
  expect(unmoving.changes(1, true)).toMatchObject({ ticks: [], upserted: moved });
  const reversed = timeline.rows.toReversed();
  advance(reversed);
  expect(timeline.rows).toEqual(reversed);
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
