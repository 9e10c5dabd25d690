import { expect, test } from 'vitest';
import { keyMadeProblem } from '../../../src/domain/trading/key-made.ts';
import { publicCause } from '../../../src/schema/public-error.ts';
import { datesOf, gapReason, isMadeAfterGap, KEY_AHEAD_MS } from '../../../src/store/order-gap.ts';
import { RecordsForgottenError, RecordsGapError } from '../../../src/store/order-records.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

test.each([
  ['is not measured yet', null, 0],
  ['differs by less than its resolution', -1_500, 0],
  ['is behind', -90_000, -90_000],
  ['is behind by a tolerated minute', -60_000, 0],
  ['is ahead', 90_000, 90_000],
  ['is absurdly ahead', 3_600_000, 3_600_000],
  ['is absurdly behind', -3_600_000, -3_600_000],
])(
  'keys are judged by the later clock, or by the gateway’s clock if ours is wrong: the gateway’s %s',
  (_, skewMs, aheadMs) => {
    const clocks = { clock: { date: () => NOW_MS }, gatewaySkewMs: () => skewMs };
    const furthestMs = NOW_MS + aheadMs + KEY_AHEAD_MS;
    expect(keyMadeProblem(furthestMs, clocks)).toBe(null);
    expect(keyMadeProblem(furthestMs + 1, clocks)).toMatchObject({
      argument: 'input.keyMade',
      message: expect.stringContaining(new Date(NOW_MS + aheadMs).toISOString()),
    });
  },
);

test.each([
  ['the end of the gap', new RecordsGapError(NOW_MS), { until: '2026-11-20T12:00:00.000Z' }, false],
  ['to ask again if the end is not known yet', new RecordsGapError(null), { until: null }, true],
])('the refusal of a key from before a gap states %s', (_, error, gap, mayAskAgain) => {
  const { extensions, message } = publicCause(error);
  expect(message).toContain(mayAskAgain ? 'ask again with the same key' : 'ask your broker');
  expect(extensions).toMatchObject({ code: 'IDEMPOTENCY_UNAVAILABLE', earlierUnknown: true, gap });
  expect('retryAfter' in extensions).toBe(mayAskAgain);
});

test('a client with a key older than a record’s life is sent to its broker', () => {
  expect(publicCause(new RecordsForgottenError()).message).toContain('ask your broker');
});

test('a key counts as made after a gap only if it is later by more than the tolerance of clocks', () => {
  expect(isMadeAfterGap(NOW_MS + KEY_AHEAD_MS + 1, NOW_MS)).toBe(true);
  expect(isMadeAfterGap(NOW_MS + KEY_AHEAD_MS, NOW_MS)).toBe(false);
  expect(isMadeAfterGap(NOW_MS, null)).toBe(false);
  expect(isMadeAfterGap(null, NOW_MS)).toBe(false);
});

test('the status states which keys are refused, or that all are until the clock is known', () => {
  expect(gapReason('the records', NOW_MS)).toContain('keys made before 2026-11-20T12:01:00.000Z');
  expect(gapReason('the records', null)).toContain('until the clock of the gateway is known');
});

test.each([
  ['ahead', 30_000, NOW_MS + 30_000, NOW_MS],
  ['behind', -30_000, NOW_MS, NOW_MS - 30_000],
  ['not measured', null, NOW_MS, null],
  ['more than a minute ahead', 60_001, NOW_MS + 60_001, null],
])(
  'a record is dated by the later clock and expires by the earlier one: the gateway’s is %s',
  (_, skewMs, laterMs, earlierMs) => {
    expect(datesOf(NOW_MS, skewMs)).toMatchObject({ laterMs, earlierMs });
  },
);
