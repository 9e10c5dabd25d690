import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { FairScheduler } from '../../lib/fair-scheduler.ts';
import { eventually } from '../support/eventually.ts';

test('clients take turns, each with its tasks in order', async () => {
  const scheduler = new FairScheduler();
  const ran: string[] = [];
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) {
    scheduler.later(name.charAt(0), () => void ran.push(name));
  }
  await eventually(() => expect(ran).toHaveLength(6));
  expect(ran).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('a slice is over when its time is, and begins anew in the next turn', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const scheduler = new FairScheduler(100);
  for (const next of [() => {}, () => scheduler.turn('a'), setImmediate, setImmediate]) {
    await next();
    expect(scheduler.isSliceOver()).toBe(false);
    nowMs += 99;
    expect(scheduler.isSliceOver()).toBe(false);
    nowMs += 1;
    expect(scheduler.isSliceOver()).toBe(true);
  }
});

test('a client has a few pieces of long work under way at a time, and others have theirs', async () => {
  const scheduler = new FairScheduler();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (client: string, name: string) =>
    scheduler.run(client, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const all = Array.from({ length: 6 }, (_, at) => start('a', `a${at}`));
  all.push(start('b', 'b0'));
  await scheduler.turn('later');
  await eventually(() => expect(begun.length).toBeGreaterThanOrEqual(3));
  expect(begun.toSorted()).toEqual(['a0', 'a1', 'b0']);
  ends.get('a1')?.();
  await eventually(() => expect(begun).toContain('a2'));
  expect(begun).not.toContain('a3');
  ends.get('b0')?.();
  for (const name of ['a0', 'a2', 'a3', 'a4', 'a5']) {
    await eventually(() => expect(begun).toContain(name));
    ends.get(name)?.();
  }
  await Promise.all(all);
});
