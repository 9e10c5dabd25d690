import { expect, test, vi } from 'vitest';
import { FairScheduler } from '../../../lib/fair-scheduler.ts';
import { buildVersion } from '../../../src/domain/catalog/catalog-version.ts';
import { sortInSlices } from '../../../src/domain/catalog/sorting.ts';
import { turnsDuring } from '../../support/turns.ts';
import { instrument } from './instruments.ts';

/** Each look at the clock finds it so much later. */
function tickAtEachLook(ms: number): void {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += ms;
    return nowMs;
  });
}

const ROWS = Array.from({ length: 50 }, (_, at) => instrument(`S${at}`));

test('where a slice is over after each step, a version and its index are built in a turn for each', async () => {
  const { version } = await buildVersion(ROWS, null);
  tickAtEachLook(5);
  const { length } = ROWS;
  // An instrument is compared, and listed by its id and by its digest.
  expect(await turnsDuring(() => buildVersion(ROWS, null))).toBeGreaterThanOrEqual(3 * length);
  // Those that are gone are looked for one by one.
  expect(await turnsDuring(() => buildVersion([], version))).toBeGreaterThanOrEqual(length);
  const indexed = async () => (await buildVersion(ROWS, null)).version.index;
  expect(await turnsDuring(indexed)).toBeGreaterThanOrEqual(5 * length);
});

test('a sort that is over within its slice yields to nobody', async () => {
  const numbers = Array.from({ length: 5_000 }, (_, at) => (at * 7) % 5_000);
  const compare = (a: number, b: number) => a - b;
  tickAtEachLook(0);
  const scheduler = new FairScheduler();
  expect(await turnsDuring(() => sortInSlices(numbers, compare, scheduler))).toBe(0);
  tickAtEachLook(5);
  // Long runs are merged in slices of 256 steps, whatever the clock says.
  const turns = await turnsDuring(() => sortInSlices(numbers, compare, scheduler));
  expect(turns).toBeGreaterThan(30);
  expect(turns).toBeLessThan(100);
  // Equal ones stay in their order.
  const byLastDigit = (a: number, b: number) => (a % 10) - (b % 10);
  const sorted = await sortInSlices(numbers, byLastDigit, scheduler);
  expect(sorted).toEqual(numbers.toSorted(byLastDigit));
});
