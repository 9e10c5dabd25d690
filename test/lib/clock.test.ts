import { performance } from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';

const HOUR_MS = 3_600_000;
// One of this file alone: other tests' time must not follow these dates.
const MODULE = `${new URL('../../lib/clock.ts', import.meta.url).href}?alone`;
const { steadyClock, systemClock }: typeof import('../../lib/clock.ts') = await import(MODULE);

/** The date and the time since the start, as the test sets them. */
function setTimes() {
  const times = { dateMs: Date.now() + HOUR_MS, steadyMs: performance.now() };
  vi.spyOn(Date, 'now').mockImplementation(() => times.dateMs);
  vi.spyOn(performance, 'now').mockImplementation(() => times.steadyMs);
  return {
    setDate(byMs: number) {
      times.dateMs += byMs;
    },
    pass(ms: number) {
      times.dateMs += ms;
      times.steadyMs += ms;
    },
  };
}

test('a date that is set back goes on at half its speed until it is reached, and is told as it is', () => {
  const { setDate, pass } = setTimes();
  const beforeMs = systemClock.now();
  expect(beforeMs).toBe(systemClock.date());
  setDate(-10_000);
  expect(systemClock.now()).toBe(beforeMs);
  expect(systemClock.date()).toBe(beforeMs - 10_000);
  // However often it is asked: parts of a millisecond count.
  for (let at = 0; at < 8_000; at += 1) {
    pass(0.5);
    systemClock.now();
  }
  expect(systemClock.now()).toBe(beforeMs + 2_000);
  pass(15_999);
  expect(systemClock.now()).toBe(beforeMs + 9_999);
  pass(1);
  expect(systemClock.now()).toBe(systemClock.date());
  pass(1_000);
  expect(systemClock.now()).toBe(systemClock.date());
});

test('a date that is set forward is followed, and time since the start by neither', () => {
  const { setDate, pass } = setTimes();
  const steadyMs = steadyClock.now();
  pass(1);
  setDate(HOUR_MS);
  expect(systemClock.now()).toBe(systemClock.date());
  setDate(-2 * HOUR_MS);
  expect(steadyClock.now()).toBe(steadyMs + 1);
  expect(steadyClock.date()).toBe(systemClock.date());
});

test('a deadline further away than the longest timer comes in time, unless it is cancelled before', () => {
  vi.useFakeTimers();
  try {
    const farMs = 60 * 24 * HOUR_MS;
    const ended: string[] = [];
    systemClock.after(farMs, () => ended.push('far'));
    const cancel = systemClock.after(farMs, () => ended.push('cancelled'));
    vi.advanceTimersByTime(farMs - 1);
    expect(ended).toEqual([]);
    cancel();
    vi.advanceTimersByTime(1);
    expect(ended).toEqual(['far']);
  } finally {
    vi.useRealTimers();
  }
});
