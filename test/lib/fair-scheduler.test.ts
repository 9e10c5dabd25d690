import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { FairScheduler } from '../../src/lib/fair-scheduler.ts';
import { eventually } from '../support/eventually.ts';

test('clients take turns, and the tasks of each run in order', async () => {
  const scheduler = new FairScheduler();
  const ran: string[] = [];
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) {
    scheduler.later(name.charAt(0), () => void ran.push(name));
  }
  await eventually(() => expect(ran).toHaveLength(6));
  expect(ran).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('a slice ends after its time, and the next turn of the event loop begins another slice', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const scheduler = new FairScheduler(100);
  // After each of these steps a new slice of 100 ms has begun.
  for (const beginSlice of [() => {}, () => scheduler.turn('a'), setImmediate, setImmediate]) {
    await beginSlice();
    expect(scheduler.isSliceOver()).toBe(false);
    nowMs += 99;
    expect(scheduler.isSliceOver()).toBe(false);
    nowMs += 1;
    expect(scheduler.isSliceOver()).toBe(true);
  }
});

test('long work waits for room in its own share, first come first served', async () => {
  const scheduler = new FairScheduler();
  const entered: string[] = [];
  const enter = (share: string, size: number) =>
    void scheduler.enter(share, size).then(() => entered.push(`${share} ${size}`));
  // A share holds work of 500,000 at once, or a single larger piece.
  for (const size of [600_000, 300_000, 250_000, 200_000]) enter('a', size);
  enter('b', 1);
  await setImmediate();
  expect(entered).toEqual(['a 600000', 'b 1']);
  // After the second piece (300,000) the third (250,000) does not fit. The fourth would fit, but waits for the third.
  scheduler.leave('a', 600_000);
  await setImmediate();
  expect(entered.slice(2)).toEqual(['a 300000']);
  scheduler.leave('a', 300_000);
  await setImmediate();
  expect(entered.slice(3)).toEqual(['a 250000', 'a 200000']);
});
