import { describe, expect, test } from 'vitest';
import type { Health } from '../../../src/gateway/judge.ts';
import {
  type BreakerPolicy,
  CircuitBreaker,
  ORDERS,
  READS_AND_WRITES,
} from '../../../src/gateway/resilience/circuit-breaker.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

function closedBreaker(policy: BreakerPolicy = READS_AND_WRITES) {
  const clock = createScriptedClock();
  const breaker = new CircuitBreaker({
    name: 'an operation',
    area: 'reads',
    clock,
    policy,
    onChange() {},
  });
  /** Makes a call that ends with this health. Returns false if the breaker holds the call back. */
  const call = (health: Health, account: string | null = 'somebody') => {
    const permit = breaker.admit(account);
    if (permit !== null) breaker.settle(permit, health, null);
    return permit !== null;
  };
  const calls = (
    count: number,
    health: Health,
    by: (index: number) => string | null = () => 'somebody',
  ) => {
    for (let index = 0; index < count; index += 1) call(health, by(index));
  };
  return { clock, breaker, call, calls };
}

/** Ten accounts in rotation. */
const many = (index: number) => `account ${index % 10}`;

describe('a closed breaker opens', () => {
  test('when half of at least ten calls failed', () => {
    const { breaker, calls } = closedBreaker();
    calls(5, 'success');
    calls(4, 'failure', many);
    expect(breaker.isOpen).toBe(false);
    calls(1, 'failure');
    expect(breaker.isOpen).toBe(true);
  });

  test('as soon as no account has more than half of the failures', () => {
    const { breaker, calls } = closedBreaker();
    // All 40 failures of one account are more than half until the others have as many.
    calls(40, 'failure');
    calls(39, 'failure', many);
    expect(breaker.isOpen).toBe(false);
    calls(1, 'failure', many);
    expect(breaker.isOpen).toBe(true);
  });

  test('because of the failures of a hundred accounts', () => {
    const { breaker, calls } = closedBreaker();
    calls(100, 'success');
    calls(100, 'failure', (index) => `account ${index}`);
    expect(breaker.isOpen).toBe(true);
  });

  test('but not because of old failures', async () => {
    const { clock, breaker, calls } = closedBreaker();
    calls(9, 'failure', many);
    await clock.advance(10_000);
    calls(9, 'failure', many);
    expect(breaker.isOpen).toBe(false);
  });
});

test('failed calls without a proved account do not count', () => {
  const { breaker, calls } = closedBreaker();
  calls(21, 'success');
  calls(1_000, 'failure', () => null);
  // Of the calls that count, 20 of 41 have failed, then 21 of 42.
  calls(20, 'failure', many);
  expect(breaker.isOpen).toBe(false);
  calls(1, 'failure', many);
  expect(breaker.isOpen).toBe(true);
});

test('five failed connections open the breaker if they are half of the calls, with or without an account', () => {
  const { breaker, calls } = closedBreaker();
  calls(6, 'success');
  calls(5, 'unreachable', () => null);
  expect(breaker.isOpen).toBe(false);
  calls(1, 'unreachable');
  expect(breaker.isOpen).toBe(true);
});

test('orders without an answer do not count if they were sent before the last answer', async () => {
  const { clock, breaker, call } = closedBreaker(ORDERS);
  const permits = ['a', 'b', 'c', 'd'].map((name) => breaker.admit(name));
  await clock.advance(1);
  call('success');
  for (const permit of permits) {
    if (permit) breaker.settle(permit, 'lost', null);
    await clock.advance(1_000);
  }
  expect(breaker.isOpen).toBe(false);
});
