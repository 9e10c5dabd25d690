import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RetryBudget } from '../../../src/gateway/resilience/retries.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const FLOOR = 10;

function openBudget() {
  const clock = createScriptedClock();
  const budget = new RetryBudget(clock);
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

test('a retry that did not happen is given back', () => {
  const { budget, takeAll } = openBudget();
  takeAll();
  budget.giveBack();
  expect(takeAll()).toBe(1);
});

test('whenever it is asked, retries are at most a tenth of the calls, or the few', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ calls: fc.nat(300), tries: fc.nat(60), waitMs: fc.nat(5_000) })),
      async (steps) => {
        const { clock, budget, calls } = openBudget();
        const beganAtMs = clock.now();
        let sum = 0;
        let taken = 0;
        for (const { calls: count, tries, waitMs } of steps) {
          // Within one window: beyond it, forgotten calls and forgotten retries go together.
          if (clock.now() + waitMs - beganAtMs >= 55_000) break;
          await clock.advance(waitMs);
          calls(count);
          sum += count;
          for (let index = 0; index < tries; index += 1) if (budget.take()) taken += 1;
          expect(taken).toBeLessThanOrEqual(Math.max(FLOOR, sum / 10));
        }
      },
    ),
    { numRuns: 50 },
  );
});
