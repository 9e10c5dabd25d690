import { expect, test } from 'vitest';
import { createTimerQueue } from '../../src/lib/timer-queue.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

test('timers run in the order in which they fall due, equal ones in the order they were set', async () => {
  const clock = createScriptedClock();
  const timers = createTimerQueue(clock);
  const ran: string[] = [];
  timers.after(30, () => ran.push('c'));
  timers.after(10, () => ran.push('a'));
  timers.after(20, () => ran.push('b1'));
  timers.after(20, () => ran.push('b2'));
  await clock.advance(20);
  expect(ran).toEqual(['a', 'b1', 'b2']);
  await clock.advance(10);
  expect(ran).toEqual(['a', 'b1', 'b2', 'c']);
});

test('a cancelled timer leaves nothing behind', async () => {
  const clock = createScriptedClock();
  const timers = createTimerQueue(clock);
  const ran: number[] = [];
  const cancels = Array.from({ length: 100 }, (_, index) =>
    timers.after((index * 37) % 100, () => ran.push((index * 37) % 100)),
  );
  cancels.forEach((cancel, index) => {
    if (index % 3 !== 0) cancel();
  });
  cancels[1]?.();
  await clock.advance(100);
  const kept = Array.from({ length: 100 }, (_, index) => index)
    .filter((index) => index % 3 === 0)
    .map((index) => (index * 37) % 100);
  expect(ran).toEqual(kept.sort((a, b) => a - b));
  expect(clock.pending).toBe(0);
});

test('ten thousand timers keep one timer of the clock', () => {
  const clock = createScriptedClock();
  const timers = createTimerQueue(clock);
  for (let index = 0; index < 10_000; index += 1) timers.after((index * 7919) % 10_000, () => {});
  expect(clock.pending).toBe(1);
});

test('a task that sets itself anew for the same moment does not hold the loop', async () => {
  const clock = createScriptedClock();
  const timers = createTimerQueue(clock);
  let runs = 0;
  const again = () => {
    runs += 1;
    if (runs < 5) timers.after(0, again);
  };
  timers.after(10, again);
  await clock.advance(10);
  expect(runs).toBe(5);
});

test('a task that throws does not stop the others', async () => {
  const fired: (() => void)[] = [];
  const timers = createTimerQueue({
    now: () => 0,
    after: (_ms, task) => {
      fired.push(task);
      return () => {};
    },
  });
  let ran = 0;
  timers.after(0, () => {
    throw new Error('broken');
  });
  timers.after(0, () => {
    ran += 1;
  });
  expect(() => fired.shift()?.()).toThrow('broken');
  fired.shift()?.();
  expect(ran).toBe(1);
});
