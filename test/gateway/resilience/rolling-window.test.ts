import { expect, test } from 'vitest';
import { RollingWindow } from '../../../src/gateway/resilience/rolling-window.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

test('events of one slice share its memory, and expire with it', async () => {
  const clock = createScriptedClock(0);
  const create = () => ({ count: 0 });
  const window = new RollingWindow(clock, 1_000, create);
  window.current().count += 1;
  await clock.advance(99);
  window.current().count += 1;
  expect(window.slices()).toEqual([{ count: 2 }]);
  await clock.advance(900);
  expect(window.slices()).toEqual([{ count: 2 }]);
  await clock.advance(1);
  expect(window.slices()).toEqual([]);
});
