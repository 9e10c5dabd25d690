import { expect, test } from 'vitest';
import type { Caller } from '../../../src/gateway/caller.ts';
import { MessageBudgets } from '../../../src/server/receive/message-budgets.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const at = (address: string): Caller => ({ token: null, client: { address, userAgent: null } });

function budgetsOf(ratePerMinute: number) {
  const clock = createScriptedClock();
  let over = 0;
  const clients = {
    of: ({ client }: Caller) => ({ kind: 'address', key: client?.address ?? '' }) as const,
  };
  const budgets = new MessageBudgets({ ratePerMinute, clients, clock, onOver: () => (over += 1) });
  const take = (times: number, address = 'a') =>
    Array.from({ length: times }, () => budgets.take(at(address))).at(-1);
  return { clock, budgets, take, over: () => over };
}

test('a client has twice its rate at once, is told that it is over for as much again, and each client has its own', () => {
  const { take, over } = budgetsOf(2_000);
  expect(take(4_000)).toBe('within');
  expect(over()).toBe(0);
  expect(take(1)).toBe('over');
  expect(take(3_998)).toBe('over');
  expect(take(1)).toBe('far over');
  expect(over()).toBe(4_000);
  expect(take(1, 'b')).toBe('within');
});

test('it has five times its rate in a minute, and is forgiven a debt', async () => {
  const { clock, take } = budgetsOf(2_400);
  take(4_800);
  expect(take(1)).toBe('over');
  await clock.advance(1_000);
  expect(take(199)).toBe('within');
  expect(take(1)).toBe('over');
  take(50_000);
  // 4,800 that it owes, and one.
  await clock.advance(24_010);
  expect(take(1)).toBe('within');
  await clock.advance(3_600_000);
  expect(take(4_800)).toBe('within');
  expect(take(1)).toBe('over');
});

test('what pages of other sites make a browser send has a budget of its own', () => {
  const { budgets, take } = budgetsOf(10);
  for (let sent = 0; sent < 2_400; sent += 1) expect(budgets.take(at('a'), 0, true)).toBe('within');
  expect(budgets.take(at('a'), 0, true)).toBe('over');
  expect(take(2_400)).toBe('within');
  expect(budgets.take(at('b'), 0, true)).toBe('within');
});

test('large messages count by their size', () => {
  const { budgets, take } = budgetsOf(10);
  expect(budgets.take(at('a'), 2_399 * 16_384)).toBe('within');
  expect(take(1)).toBe('over');
  expect(budgets.take(at('b'), 16_383)).toBe('within');
  expect(take(2_399, 'b')).toBe('within');
});

test('a lower limit of operations leaves the budget for what else clients send', () => {
  const { take } = budgetsOf(10);
  expect(take(2_400)).toBe('within');
  expect(take(1)).toBe('over');
});

test('the counts have a bound, and what they take is known', () => {
  const { budgets, take } = budgetsOf(10);
  take(1, 'a');
  take(1, 'b');
  expect(budgets.byteSize).toBe(320);
});

test("a message is the client's that turns out to have sent it, unless that has used up its budget", () => {
  const { budgets, take } = budgetsOf(10);
  expect(take(2_400)).toBe('within');
  budgets.move('a', 'b');
  expect([take(1), take(1)]).toEqual(['within', 'over']);
  expect([take(2_399, 'b'), take(1, 'b')]).toEqual(['within', 'over']);
  budgets.move('c', 'b');
  take(2_400, 'c');
  expect(take(1, 'c')).toBe('over');
});
