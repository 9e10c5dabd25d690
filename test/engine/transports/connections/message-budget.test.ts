import { expect, test } from 'vitest';
import { messageBudget } from '../../../../src/engine/transports/connections/message-budget.ts';
import type { RequestCaller } from '../../../../src/lib/limits/caller.ts';
import { Limiter } from '../../../../src/lib/limits/limiter.ts';
import { limitTable } from '../../../support/limits.ts';
import { createScriptedClock } from '../../../support/scripted-clock.ts';

const SETTINGS = { costLimitPerMinute: 1, loginLimitPerMinute: 1, maxCost: 1 };

const at = (address: string): RequestCaller => ({
  token: null,
  client: { address, userAgent: null },
});

function budgetsOf(ratePerMinute: number) {
  const clock = createScriptedClock();
  const table = limitTable({ ...SETTINGS, rateLimitPerMinute: ratePerMinute });
  const count = messageBudget(new Limiter(table, clock));
  const take = (times: number, address = 'a') =>
    Array.from({ length: times }, () => count(at(address))).at(-1);
  return { clock, count, take };
}

test('a client may send twice its rate at once and five times that in a minute, and gets as many refusals before its end', async () => {
  const { clock, take } = budgetsOf(2_400);
  expect(take(4_800)).toBe('within');
  expect(take(1)).toBe('over');
  expect(take(4_798)).toBe('over');
  expect(take(1)).toBe('far over');
  expect(take(1, 'b')).toBe('within');
  // 4,800 that it owes and no more, at 200 a second.
  take(50_000);
  await clock.advance(24_010);
  expect(take(1)).toBe('within');
  await clock.advance(1_000);
  expect(take(199)).toBe('within');
  expect(take(3)).toBe('over');
});

test.each(['cross-site', 'upgrades'] as const)('%s have a budget of their own', (apart) => {
  const { count, take } = budgetsOf(10);
  for (let sent = 0; sent < 2_400; sent += 1) expect(count(at('a'), 0, apart)).toBe('within');
  expect(count(at('a'), 0, apart)).toBe('over');
  expect(take(2_400)).toBe('within');
  expect(count(at('b'), 0, apart)).toBe('within');
});

test('large messages count by their size', () => {
  const { count, take } = budgetsOf(10);
  expect(count(at('a'), 2_399 * 16_384)).toBe('within');
  expect(take(1)).toBe('over');
  expect(count(at('b'), 16_383)).toBe('within');
  expect(take(2_399, 'b')).toBe('within');
});
