import { describe, expect, test } from 'vitest';
import {
  type CountedHealth,
  createCircuitBreaker,
} from '../../../src/gateway/resilience/circuit-breaker.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const PAUSE_MS = 5_000;

const proved = (key: string) => ({ key, isProved: true });

function closedBreaker() {
  const clock = createScriptedClock();
  const breaker = createCircuitBreaker({
    clock,
    minimumCalls: 10,
    hasProvedCalls: () => true,
    onChange() {},
  });
  const call = (health: CountedHealth, account = proved('somebody')) => {
    const permit = breaker.admit();
    if (permit !== null) breaker.settle(permit, health, account);
    return permit !== null;
  };
  const calls = (count: number, health: CountedHealth, by = (_: number) => proved('somebody')) => {
    for (let index = 0; index < count; index += 1) call(health, by(index));
  };
  return { clock, breaker, call, calls };
}

/** Ten accounts in rotation. */
const many = (index: number) => proved(`account ${index % 10}`);

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

  test('not over two accounts, and over a third', () => {
    const { breaker, calls } = closedBreaker();
    calls(1_000, 'failure', (index) => proved(`account ${index % 2}`));
    expect(breaker.isOpen).toBe(false);
    calls(1, 'failure', () => proved('a third'));
    expect(breaker.isOpen).toBe(true);
  });

  test('over accounts that fail one after the other, not at the same moment', async () => {
    const { clock, breaker, calls } = closedBreaker();
    for (let account = 0; account < 5; account += 1) {
      expect(breaker.isOpen).toBe(false);
      calls(2, 'failure', () => proved(`account ${account}`));
      await clock.advance(1_500);
    }
    expect(breaker.isOpen).toBe(true);
  });

  test('not over failures of long ago', async () => {
    const { clock, breaker, calls } = closedBreaker();
    calls(9, 'failure', many);
    await clock.advance(10_000);
    calls(9, 'failure', many);
    expect(breaker.isOpen).toBe(false);
  });
});

test('callers without a proved account at most double what proved accounts fail', () => {
  const { breaker, calls } = closedBreaker();
  calls(41, 'success');
  calls(1_000, 'failure', (index) => ({ ...many(index), isProved: false }));
  calls(20, 'failure', (index) => proved(`account ${index % 3}`));
  expect(breaker.isOpen).toBe(false);
  calls(1, 'failure', () => proved('account 3'));
  expect(breaker.isOpen).toBe(true);
});

describe('an open breaker', () => {
  test('sends the next probe while the last one hangs', async () => {
    const { clock, breaker, call } = openBreaker();
    await clock.advance(PAUSE_MS);
    const hanging = breaker.admit();
    await clock.advance(PAUSE_MS - 1);
    expect(call('success')).toBe(false);
    await clock.advance(1);
    expect(call('success')).toBe(true);
    if (hanging) breaker.settle(hanging, 'failure', proved('somebody'));
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

describe('an answer to a call from before', () => {
  test('the breaker opened does not close it', () => {
    const { breaker, calls } = closedBreaker();
    const slow = breaker.admit();
    calls(10, 'failure', many);
    if (slow) breaker.settle(slow, 'success', proved('somebody'));
    expect(breaker.isOpen).toBe(true);
  });

  test('the breaker closed does not open it again', async () => {
    const { clock, breaker, calls, call } = closedBreaker();
    const hanging = Array.from({ length: 50 }, () => breaker.admit());
    calls(10, 'failure', many);
    await clock.advance(PAUSE_MS);
    call('success');
    hanging.forEach((permit, index) => {
      if (permit) breaker.settle(permit, 'failure', many(index));
    });
    expect(breaker.isOpen).toBe(false);
  });
});
