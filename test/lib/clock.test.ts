import { performance } from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';

const HOUR_MS = 3_600_000;
// This file has its own copy of the module, because other tests' time must not follow these dates.
const MODULE = `${new URL('../../src/lib/clock.ts', import.meta.url).href}?alone`;
const { steadyClock, systemClock }: typeof import('../../src/lib/clock.ts') = await import(MODULE);

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

test('time continues at its normal speed after the date is set back, and dateOf follows the new date', () => {
  const { setDate, pass } = setTimes();
  const beforeMs = systemClock.now();
  expect(beforeMs).toBe(systemClock.date());
  for (let changes = 1; changes <= 2; changes += 1) {
    const nowMs = systemClock.now();
    setDate(-HOUR_MS);
    expect(systemClock.now()).toBe(nowMs);
    pass(4_000);
    expect(systemClock.now()).toBe(beforeMs + changes * 4_000);
    expect(systemClock.date()).toBe(systemClock.now() - changes * HOUR_MS);
    expect(systemClock.dateOf(systemClock.now())).toBe(systemClock.date());
    expect(systemClock.dateOf(beforeMs)).toBe(beforeMs - changes * HOUR_MS);
  }
});

test('the system clock follows a date that is set forward, but the steady clock ignores it', () => {
  const { setDate, pass } = setTimes();
  const steadyMs = steadyClock.now();
  pass(1);
  setDate(HOUR_MS);
  expect(systemClock.dateOf(systemClock.now())).toBe(systemClock.date());
  setDate(-2 * HOUR_MS);
  expect(steadyClock.now()).toBe(steadyMs + 1);
  expect(steadyClock.date()).toBe(systemClock.date());
  expect(steadyClock.dateOf(steadyClock.now())).toBeCloseTo(systemClock.date());
});

test('a deadline beyond the longest timer fires in time, unless it is cancelled', () => {
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
