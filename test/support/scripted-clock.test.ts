import { expect, test } from 'vitest';
import { createScriptedClock } from './scripted-clock.ts';

test('timers run in the order in which they fall due, each at its own time', async () => {
  const clock = createScriptedClock(1_000);
  const ran: [string, number][] = [];
  clock.after(20, () => ran.push(['second', clock.now()]));
  clock.after(10, () => ran.push(['first', clock.now()]));
  clock.after(30, () => ran.push(['third', clock.now()]));
  await clock.advance(25);
  expect(ran).toEqual([
    ['first', 1_010],
    ['second', 1_020],
  ]);
  expect(clock.now()).toBe(1_025);
  expect(clock.pending).toBe(1);
});

test('a timer that a timer sets runs in the same move where it falls due in it', async () => {
  const clock = createScriptedClock(0);
  const ran: number[] = [];
  const again = () => {
    ran.push(clock.now());
    Promise.resolve().then(() => clock.after(10, again));
  };
  clock.after(10, again);
  await clock.advance(35);
  expect(ran).toEqual([10, 20, 30]);
});

test('a timer that sets itself for the same moment again ends the move with an error', async () => {
  const clock = createScriptedClock(0);
  const again = () => void clock.after(0, again);
  again();
  await expect(clock.advance(1)).rejects.toThrow('timers fell due in 1 ms: () => void clock');
});

test('a cancelled timer never runs', async () => {
  const clock = createScriptedClock(0);
  const ran: string[] = [];
  const cancel = clock.after(10, () => ran.push('cancelled'));
  clock.after(10, () => ran.push('kept'));
  cancel();
  await clock.advance(100);
  expect(ran).toEqual(['kept']);
});
