import { expect, test } from 'vitest';
import { RollingWindow } from '../../src/lib/rolling-window.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

function openWindow() {
  const clock = createScriptedClock(0);
  const window = new RollingWindow({
    clock,
    spanMs: 1_000,
    slices: 10,
    create: () => ({ count: 0 }),
  });
  return { clock, window, total: () => window.slices().reduce((sum, { count }) => sum + count, 0) };
}

test('events within one slice are counted together', async () => {
  const { clock, window } = openWindow();
  window.current().count += 1;
  await clock.advance(99);
  window.current().count += 1;
  expect(window.slices()).toEqual([{ count: 2 }]);
});

test('events older than the span are forgotten, slice by slice', async () => {
  const { clock, window, total } = openWindow();
  window.current().count += 1;
  await clock.advance(500);
  window.current().count += 1;
  await clock.advance(499);
  expect(total()).toBe(2);
  await clock.advance(1);
  expect(total()).toBe(1);
  await clock.advance(500);
  expect(total()).toBe(0);
});

test('a long silence leaves nothing behind', async () => {
  const { clock, window, total } = openWindow();
  window.current().count += 1;
  await clock.advance(86_400_000);
  expect(total()).toBe(0);
  window.current().count += 1;
  expect(total()).toBe(1);
});
