import { expect, test } from 'vitest';
import { createRetryBudget } from '../../../src/gateway/resilience/retries.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const FLOOR = 10;

function openBudget() {
  const clock = createScriptedClock();
  const budget = createRetryBudget(clock);
  const calls = (count: number) => {
    for (let call = 0; call < count; call += 1) budget.called();
  };
  const takeAll = () => Array.from({ length: 200 }, () => budget.take()).filter(Boolean).length;
  return { clock, budget, calls, takeAll };
}

test('the few are part of the tenth, not added to it', () => {
  const { calls, takeAll } = openBudget();
  calls(100);
  expect(takeAll()).toBe(10);
  calls(900);
  expect(takeAll()).toBe(90);
});

test('a spent retry is restored when it is a minute old, and no sooner', async () => {
  const { clock, takeAll } = openBudget();
  takeAll();
  await clock.advance(54_000);
  expect(takeAll()).toBe(0);
  await clock.advance(6_000);
  expect(takeAll()).toBe(FLOOR);
});
