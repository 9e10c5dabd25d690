import { describe, expect, test } from 'vitest';
import type { Health } from '../../../src/gateway/classify.ts';
import {
  type BreakerPolicy,
  CircuitBreaker,
  ORDERS,
  READS_AND_WRITES,
} from '../../../src/gateway/resilience/circuit-breaker.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const PAUSE_MS = READS_AND_WRITES.pauseMs;

function closedBreaker(policy: BreakerPolicy = READS_AND_WRITES) {
  const clock = createScriptedClock();
  const breaker = new CircuitBreaker({
    name: 'an operation',
    area: 'reads',
    clock,
    policy,
    onChange() {},
  });
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

function openBreaker() {
  const closed = closedBreaker();
  closed.calls(10, 'failure', many);
  expect(closed.breaker.isOpen).toBe(true);
  return closed;
}

describe('a closed breaker opens', () => {
  test('when half of enough calls failed', () => {
    const { breaker, calls } = closedBreaker();
    calls(5, 'success');
    calls(4, 'failure', many);
    expect(breaker.isOpen).toBe(false);
    calls(1, 'failure');
    expect(breaker.isOpen).toBe(true);
  });

  test('as soon as no account has more than half of the failures', () => {
    const { breaker, calls } = closedBreaker();
    calls(40, 'failure');
    calls(39, 'failure', many);
    expect(breaker.isOpen).toBe(false);
    calls(1, 'failure', many);
    expect(breaker.isOpen).toBe(true);
  });

  test('over failures of three accounts, but not of two', () => {
    const { breaker, calls } = closedBreaker();
    calls(1_000, 'failure', (index) => `account ${index % 2}`);
    expect(breaker.isOpen).toBe(false);
    calls(1, 'failure', () => 'a third');
    expect(breaker.isOpen).toBe(true);
  });

  test('over accounts that fail one after another', async () => {
    const { clock, breaker, calls } = closedBreaker();
    for (let account = 0; account < 5; account += 1) {
      expect(breaker.isOpen).toBe(false);
      calls(2, 'failure', () => `account ${account}`);
      await clock.advance(1_500);
    }
    expect(breaker.isOpen).toBe(true);
  });

  test('over the failures of a hundred accounts', () => {
    const { breaker, calls } = closedBreaker();
    calls(100, 'success');
    calls(100, 'failure', (index) => `account ${index}`);
    expect(breaker.isOpen).toBe(true);
  });

  test('but not over old failures', async () => {
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
  calls(20, 'failure', many);
  expect(breaker.isOpen).toBe(false);
  calls(1, 'failure', many);
  expect(breaker.isOpen).toBe(true);
});

test('five failed connections open the breaker, with or without an account', () => {
  const { breaker, calls } = closedBreaker();
  calls(4, 'success');
  calls(4, 'unreachable', () => null);
  expect(breaker.isOpen).toBe(false);
  calls(1, 'unreachable');
  expect(breaker.isOpen).toBe(true);
});

describe('calls without an answer', () => {
  test('open the breaker of orders once three accounts have lost orders over two seconds, and none was answered since', async () => {
    const { clock, breaker, call, calls } = closedBreaker(ORDERS);
    const lose = async (accounts: number, ms: number) => {
      for (let index = 0; index < accounts; index += 1) call('lost', `account ${index}`);
      await clock.advance(ms);
    };
    await lose(3, 1_999);
    await lose(3, 1);
    expect(breaker.isOpen).toBe(false);
    call('success');
    await lose(2, 2_000);
    calls(50, 'lost', (index) => `account ${index % 2}`);
    expect(breaker.isOpen).toBe(false);
    call('lost', 'a third');
    expect(breaker.isOpen).toBe(true);
  });

  test('of orders do not count if they were sent before the last answer', async () => {
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

  test('of other operations count as failures', () => {
    const { breaker, calls } = closedBreaker();
    calls(10, 'lost', many);
    expect(breaker.isOpen).toBe(true);
  });
});

describe('an open breaker', () => {
  test('sends the next probe while the last one hangs', async () => {
    const { clock, breaker, call } = openBreaker();
    await clock.advance(PAUSE_MS);
    const hanging = breaker.admit('somebody');
    await clock.advance(PAUSE_MS - 1);
    expect(call('success')).toBe(false);
    await clock.advance(1);
    expect(call('success')).toBe(true);
    if (hanging) breaker.settle(hanging, 'failure', null);
    expect(breaker.isOpen).toBe(false);
  });

  test('tries again immediately after a probe without a verdict', async () => {
    const { clock, breaker, call } = openBreaker();
    await clock.advance(PAUSE_MS);
    expect(call('none')).toBe(true);
    expect(call('success')).toBe(true);
    expect(breaker.isOpen).toBe(false);
  });
});

describe('an answer to an earlier call', () => {
  test('does not close the breaker that has opened since', () => {
    const { breaker, calls } = closedBreaker();
    const slow = breaker.admit('somebody');
    calls(10, 'failure', many);
    if (slow) breaker.settle(slow, 'success', null);
    expect(breaker.isOpen).toBe(true);
  });

  test('does not open the breaker that has closed again since', async () => {
    const { clock, breaker, calls, call } = closedBreaker();
    const hanging = Array.from({ length: 50 }, (_, index) => breaker.admit(many(index)));
    calls(10, 'failure', many);
    await clock.advance(PAUSE_MS);
    call('success');
    for (const permit of hanging) if (permit) breaker.settle(permit, 'failure', null);
    expect(breaker.isOpen).toBe(false);
  });
});
