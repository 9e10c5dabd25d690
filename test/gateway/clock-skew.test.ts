import { expect, test } from 'vitest';
import { createClockSkew } from '../../src/gateway/clock-skew.ts';
import type { Exchange } from '../../src/gateway/exchange.ts';
import { OPERATIONS, type OperationName } from '../../src/gateway/operations.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

const NOW_MS = Date.UTC(2026, 0, 5, 12);

function open() {
  const clock = createScriptedClock(NOW_MS);
  const skew = createClockSkew(clock);
  const saw = (
    headers: Readonly<Record<string, string>>,
    operation: OperationName = 'getSession',
    tookMs = 0,
  ) => {
    const sent = { sent: true, logicalTime: 1, sentAtMs: clock.now() - tookMs } as const;
    const exchange: Exchange = { ...sent, answered: true, status: 200, headers, bytes: NOTHING };
    skew.saw(callOf(operation), exchange);
  };
  const dateAt = (aheadMs: number) => ({ date: new Date(clock.now() + aheadMs).toUTCString() });
  return { clock, skew, saw, dateAt };
}

const NOTHING = Buffer.alloc(0);

function callOf(operation: OperationName) {
  const caller = { token: null };
  const row = OPERATIONS[operation];
  return { operation, row, path: '/', headers: [], body: null, deadlineMs: 1, maxBytes: 1, caller };
}

test('the median of ten answers counts, and nothing before there were ten', () => {
  const { skew, saw, dateAt } = open();
  for (let at = 0; at < 4; at += 1) saw(dateAt(7_200_000));
  for (let at = 0; at < 5; at += 1) saw(dateAt(0));
  expect(skew.ms).toBeNull();
  saw(dateAt(0));
  expect(skew.ms).toBe(500);
});

test('a clock that has just been set is told by its whole difference', async () => {
  const { clock, skew, saw, dateAt } = open();
  for (let at = 0; at < 10; at += 1) saw(dateAt(0));
  for (let second = 0; second < 10; second += 1) {
    await clock.advance(1_000);
    saw(dateAt(7_200_000));
    expect([500, 7_200_500]).toContain(skew.ms);
    expect(skew.ms === 500).toBe(second < 5);
  }
});

test('the time that a call takes is halved between the way there and the way back', () => {
  const { skew, saw, dateAt } = open();
  for (let at = 0; at < 10; at += 1) saw(dateAt(0), 'getSession', 4_000);
  expect(skew.ms).toBe(2_500);
});

test('answers without a date, or that a cache may have kept, say nothing', () => {
  const { skew, saw, dateAt } = open();
  for (let at = 0; at < 10; at += 1) {
    saw({});
    saw(dateAt(-60_000), 'getAllTickers');
    saw({ ...dateAt(-60_000), age: '60' });
  }
  expect(skew.ms).toBeNull();
});

test('of the many answers of a second one counts, once there were ten', async () => {
  const { clock, skew, saw, dateAt } = open();
  for (let at = 0; at < 10; at += 1) saw(dateAt(-60_000));
  expect(skew.ms).toBe(-59_500);
  for (let second = 0; second < 10; second += 1) {
    for (let at = 0; at < 20; at += 1) saw(dateAt(at === 0 ? 0 : -60_000));
    await clock.advance(1_000);
  }
  expect(skew.ms).toBe(500);
});
