import { expect, test } from 'vitest';
import { ClientLimits } from '../../../src/engine/admission/client-limits.ts';
import { Limiter } from '../../../src/lib/limits/limiter.ts';
import { addressClient } from '../../../src/lib/limits/request-caller.ts';
import { limitTable } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

function budgetOf(rateLimitPerMinute: number) {
  const clock = createScriptedClock();
  const table = limitTable({ loginLimitPerMinute: 1, maxCost: 1, rateLimitPerMinute });
  const limits = new ClientLimits(new Limiter(table, clock));
  /** Sends messages, and returns the number that is within the budget. */
  const take = (times: number, address = '192.0.2.1', bytes = 0) => {
    let within = 0;
    for (let index = 0; index < times; index += 1) {
      if (limits.takeMessage(addressClient(address), bytes)) within += 1;
    }
    return within;
  };
  return { clock, take };
}

test('a client can send twice its rate at once, and its budget refills over time', async () => {
  const { clock, take } = budgetOf(2_400);
  expect(take(4_810)).toBe(4_800);
  expect(take(1, '192.0.2.2')).toBe(1);
  // A client owes 4,800 at most, and regains 200 a second. In 24.01 seconds these are 4,802, so two messages are allowed.
  take(50_000);
  await clock.advance(24_010);
  expect(take(1)).toBe(1);
  await clock.advance(1_000);
  expect(take(210)).toBe(1 + 200);
});

test('large messages count by their size', () => {
  // The smallest budget is 2,400. Each further 16 KiB of a message count as one more.
  const { take } = budgetOf(10);
  expect(take(1, '192.0.2.1', 2_399 * 16_384)).toBe(1);
  expect(take(1)).toBe(0);
  expect(take(1, '192.0.2.2', 16_383)).toBe(1);
  expect(take(2_400, '192.0.2.2')).toBe(2_399);
});
