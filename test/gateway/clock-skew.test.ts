import { expect, test } from 'vitest';
import { ClockSkew } from '../../src/gateway/clock-skew.ts';
import type { Exchange, WireCall } from '../../src/gateway/exchange.ts';
import { datesOf } from '../../src/store/dates.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

function open() {
  const clock = createScriptedClock(Date.UTC(2026, 0, 5, 12));
  const skew = new ClockSkew(clock);
  /** Reports an answer with these headers, which took this long. */
  const observe = (
    headers: Readonly<Record<string, string>>,
    name = 'getSession',
    { tookMs = 0 } = {},
  ) => {
    const exchange = { sent: true, answered: true, headers, sentAtMs: clock.now() - tookMs };
    skew.observe({ operation: { name } } as WireCall, exchange as Exchange);
  };
  const dateAt = (aheadMs: number) => ({ date: new Date(clock.now() + aheadMs).toUTCString() });
  return { clock, skew, observe, dateAt };
}

// A `Date` header has whole seconds, so each expected skew is half a second more.
test('two answers that agree are enough', () => {
  const { skew, observe, dateAt } = open();
  observe(dateAt(300_000));
  expect([skew.ms, skew.earlyMs]).toEqual([null, 300_500]);
  observe(dateAt(301_000));
  expect(skew.ms).toBe(300_500);
  expect(skew.degradedReason()).toMatch(/301 s ahead/);
});

test('if answers disagree, the skew is unknown until the tenth answer, and then the median of the answers', () => {
  const { skew, observe, dateAt } = open();
  observe(dateAt(0));
  for (let index = 0; index < 4; index += 1) observe(dateAt(7_200_000));
  for (let index = 0; index < 4; index += 1) observe(dateAt(0));
  expect(skew.ms).toBeNull();
  observe(dateAt(0));
  expect(skew.ms).toBe(500);
});

test('no process judges a key by a date over a second later than the end of a loss by another process', () => {
  const processes = [-3_600_000, -600, -250, 0, 400, 3_600_000].flatMap((aheadMs) =>
    // The last one has measured by an answer that waited while the process was paused.
    [
      { errorMs: -500, slowMs: 0 },
      { errorMs: 0, slowMs: 0 },
      { errorMs: 500, slowMs: 0 },
      { errorMs: -4_250, slowMs: 4_000 },
    ].map(({ errorMs, slowMs }) => {
      const skewMs = errorMs - aheadMs;
      return datesOf(1e12 + aheadMs, { ms: skewMs, earlyMs: skewMs, slowMs });
    }),
  );
  const latest = Math.max(...processes.map(({ judgedMs }) => judgedMs));
  const ends = processes.map(({ latestMs }) => latestMs);
  expect(latest - Math.min(...ends)).toBeLessThanOrEqual(1_000);
});

test.each([
  [1_000_000, 1_000_500],
  [0, 500],
  [-600, 0],
  [-2_000, -1_000],
  [-61_000, -60_000],
])(
  'keys are judged by the gateway’s clock, which this machine’s may exceed by half a second: %d ms',
  async (skewMs, aheadMs) => {
    const { clock, skew, observe, dateAt } = open();
    for (let index = 0; index < 10; index += 1) observe(dateAt(skewMs));
    expect(datesOf(clock.date(), skew).judgedMs - clock.date()).toBe(aheadMs);
    expect(skew.degradedReason() === null).toBe(Math.abs(skewMs) < 60_000);
  },
);

test('answers without a date, and answers that a cache may have kept, are ignored', () => {
  const { skew, observe, dateAt } = open();
  for (let index = 0; index < 10; index += 1) {
    observe({});
    observe(dateAt(-60_000), 'getAllTickers');
    observe({ ...dateAt(-60_000), age: '60' });
  }
  expect(skew.ms).toBeNull();
});

test('a slow answer counts until a quick one has arrived, as if it had taken half a second', () => {
  const { skew, observe, dateAt } = open();
  const slowly = (aheadMs: number) => observe(dateAt(aheadMs), 'openPosition', { tookMs: 14_000 });
  for (let index = 0; index < 2; index += 1) slowly(0);
  expect([skew.ms, skew.earlyMs, skew.slowMs]).toEqual([750, 750, 14_000]);
  observe(dateAt(-60_000));
  expect([skew.ms, skew.earlyMs, skew.slowMs]).toEqual([null, -59_500, 0]);
  for (let index = 0; index < 9; index += 1) slowly(0);
  observe(dateAt(-60_000), 'getSession', { tookMs: 500 });
  expect([skew.ms, skew.slowMs]).toEqual([-59_500, 0]);
});

test('after the first ten answers only one answer per second counts', async () => {
  const { clock, skew, observe, dateAt } = open();
  for (let index = 0; index < 10; index += 1) observe(dateAt(-60_000));
  expect(skew.ms).toBe(-59_500);
  for (let second = 0; second < 10; second += 1) {
    observe(dateAt(0));
    for (let index = 0; index < 19; index += 1) observe(dateAt(-60_000));
    await clock.advance(1_000);
  }
  expect(skew.ms).toBe(500);
});
