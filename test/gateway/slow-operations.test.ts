import { expect, test } from 'vitest';
import { SlowOperations } from '../../src/gateway/slow-operations.ts';
import { createLog } from '../../src/lib/log.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

const MINUTE_MS = 60_000;
const OPERATION = 'getSession';

function open() {
  const clock = createScriptedClock(0);
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLog({ level: 'info', format: 'json', destination });
  const slow = new SlowOperations({ clock, log });
  return {
    clock,
    slow,
    /** Calls at an even pace, each so long; returns the seconds until it was slow, or null. */
    async call(minutes: number, ms: (at: number) => number, everyMs = 5_000) {
      let after: number | null = null;
      const startMs = clock.now();
      for (let at = 0; clock.now() - startMs < minutes * MINUTE_MS; at += 1) {
        slow.saw(OPERATION, 'ok', ms(at), clock.now());
        await clock.advance(everyMs);
        if (slow.isSlow(OPERATION)) after ??= (clock.now() - startMs) / 1000;
      }
      return after;
    },
    taken: () => lines.splice(0).map(({ level, time, ...line }) => line),
  };
}

test.each([30, 110, 400, 2_000])(
  'a threefold median of %d ms is seen within two minutes, and that it is over',
  async (ms) => {
    const { slow, call, taken } = open();
    expect(await call(30, () => ms)).toBeNull();
    const after = await call(2, () => 3 * ms);
    // As soon as most calls of the minute are slow; the alert has half a minute more.
    expect(after).toBeLessThanOrEqual(50);
    const [line] = taken();
    expect(line).toMatchObject({
      operation: OPERATION,
      msg: 'an operation of the gateway is slow',
    });
    expect(Number(line?.medianMs) / (3 * ms)).toBeCloseTo(1, 0);
    expect(Number(line?.usualMs) / ms).toBeCloseTo(1, 0);
    expect(slow.degradedReason()).toMatch(/^slow operations of the gateway: getSession: \d+ ms/);
    await call(2, () => ms);
    expect(slow.degradedReason()).toBeNull();
    expect(taken()).toMatchObject([{ msg: 'an operation of the gateway is slow no more' }]);
  },
);

test('it stays slow for as long as the former hour is remembered, and is usual after that', async () => {
  const { slow, call, taken } = open();
  await call(60, () => 100);
  await call(45, () => 1_000);
  expect(slow.isSlow(OPERATION)).toBe(true);
  await call(30, () => 1_000);
  expect(slow.isSlow(OPERATION)).toBe(false);
  expect(await call(60, () => 1_000)).toBeNull();
  expect(taken()).toHaveLength(2);
});

test('it is quiet for twofold times, for a few long calls, and for what stays quick', async () => {
  const { call } = open();
  await call(30, () => 100);
  expect(await call(5, () => 200)).toBeNull();
  expect(await call(10, (at) => (at % 5 < 2 ? 5_000 : 100))).toBeNull();
  const quick = open();
  await quick.call(30, () => 2);
  expect(await quick.call(5, () => 40)).toBeNull();
});

test('a median is known as soon as the first ten seconds are over', async () => {
  const { slow, clock } = open();
  for (let call = 0; call < 10; call += 1) slow.saw(OPERATION, 'ok', 100, clock.now());
  await clock.advance(9_999);
  expect(slow.median(OPERATION, 'minute')).toBeNull();
  await clock.advance(1);
  expect(slow.median(OPERATION, 'minute')).toBeCloseTo(100, -1.5);
});

test('it needs calls to compare: thirty before, ten in the minute', async () => {
  const { call, slow } = open();
  expect(await call(1, () => 100)).toBeNull();
  expect(slow.median(OPERATION, 'hour')).toBeNull();
  expect(await call(3, () => 3_000)).toBeNull();
  const rare = open();
  await rare.call(60, () => 100, 10_000);
  expect(await rare.call(10, () => 3_000, 10_000)).toBeNull();
});

test('failures at once are not quick, time-outs are slow, and operations are told apart', async () => {
  const { clock, slow } = open();
  for (let second = 0; second < 600; second += 1) {
    slow.saw(OPERATION, 'ok', 100, clock.now());
    slow.saw('getOpenPositions', 'ok', 100, clock.now());
    await clock.advance(1_000);
  }
  for (let second = 0; second < 90; second += 1) {
    slow.saw(OPERATION, 'timeout', 5_000, clock.now());
    for (const outcome of ['connect', 'reset', '5xx', 'cancelled'] as const) {
      slow.saw(OPERATION, outcome, 0, clock.now());
    }
    slow.saw('getOpenPositions', 'ok', 100, clock.now());
    await clock.advance(1_000);
  }
  expect(slow.isSlow(OPERATION)).toBe(true);
  expect(slow.isSlow('getOpenPositions')).toBe(false);
  expect(slow.median(OPERATION, 'minute')).toBeGreaterThan(4_000);
});

test.each<[string, (slow: SlowOperations) => boolean]>([
  ['that it is slow', (slow) => slow.isSlow(OPERATION)],
  ['its median', (slow) => slow.median(OPERATION, 'minute') !== null],
  ['its usual median', (slow) => slow.median(OPERATION, 'hour') !== null],
  ['the reason', (slow) => slow.degradedReason() !== null],
])('a night without any call ends %s, whatever is asked first', async (_what, ask) => {
  const { slow, call, clock } = open();
  await call(10, () => 100);
  await call(2, () => 1_000);
  expect(ask(slow)).toBe(true);
  await clock.advance(8 * 60 * MINUTE_MS);
  expect(ask(slow)).toBe(false);
});
