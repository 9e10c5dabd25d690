import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { FairScheduler } from '../../lib/fair-scheduler.ts';
import { eventually } from '../support/eventually.ts';

/** Time passes by `pass` alone. */
function stopTime(): { pass(ms: number): void } {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  return {
    pass(ms) {
      nowMs += ms;
    },
  };
}

/** Runs until as many tasks have run as were queued. */
async function order(queued: readonly (readonly [client: string, name: string])[]) {
  const scheduler = new FairScheduler();
  const ran: string[] = [];
  await Promise.all(
    queued.map(
      ([client, name]) =>
        new Promise<void>((resolve) =>
          scheduler.later(client, () => {
            ran.push(name);
            resolve();
          }),
        ),
    ),
  );
  return ran;
}

test('clients take turns, each with its tasks in order', async () => {
  const ran = await order([
    ['a', 'a1'],
    ['a', 'a2'],
    ['a', 'a3'],
    ['b', 'b1'],
    ['c', 'c1'],
    ['b', 'b2'],
  ]);
  expect(ran).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('a slice is over when its time is, and begins anew in the next turn', async () => {
  const time = stopTime();
  const scheduler = new FairScheduler(100);
  expect(scheduler.isSliceOver()).toBe(false);
  time.pass(99);
  expect(scheduler.isSliceOver()).toBe(false);
  time.pass(1);
  expect(scheduler.isSliceOver()).toBe(true);
  for (const next of [() => scheduler.turn('a'), setImmediate, setImmediate]) {
    await next();
    expect(scheduler.isSliceOver()).toBe(false);
    time.pass(100);
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
  await eventually(() => begun.length >= 3);
  expect(begun.toSorted()).toEqual(['a0', 'a1', 'b0']);
  ends.get('a1')?.();
  await eventually(() => begun.includes('a2'));
  expect(begun).not.toContain('a3');
  ends.get('b0')?.();
  for (const name of ['a0', 'a2', 'a3', 'a4', 'a5']) {
    await eventually(() => begun.includes(name));
    ends.get(name)?.();
  }
  await Promise.all(all);
});
