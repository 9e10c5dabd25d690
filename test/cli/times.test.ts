import { expect, test } from 'vitest';
import type { TimeCounts } from '../../check/gateway/compare.ts';
import { timeFindings } from '../../check/gateway/times.ts';
import type { TimeUnit } from '../../src/gateway/wire/scalars.ts';

const NONE: TimeCounts = { s: 0, ms: 0, us: 0, zero: 0, none: 0 };

type Case = readonly [Partial<TimeCounts>, TimeUnit, string | null, TimeUnit | null];

test.each<Case>([
  [{ s: 2 }, 'auto', null, null],
  [{ us: 2 }, 'auto', null, null],
  [{ s: 2, zero: 1 }, 's', null, null],
  [{ s: 2 }, 'ms', 'problem: Times are in seconds, and ms reads them wrongly.', 's'],
  [{ us: 2 }, 'ms', 'problem: Times are in microseconds, which only auto reads.', 'auto'],
  [
    { s: 1, ms: 1, us: 2 },
    'auto',
    'warning: Some times are in seconds, others in milliseconds and microseconds: auto reads them all.',
    null,
  ],
  [{ none: 1 }, 'auto', 'warning: Times are in no unit that can be recognized.', null],
  [
    { zero: 1 },
    'auto',
    'note: There was no time to tell the unit by: check with an account that has positions.',
    null,
  ],
])('times of %o under %s', (times, configured, finding, unit) => {
  const found = timeFindings({ ...NONE, ...times }, configured);
  expect(found.findings.map(({ level, text }) => `${level}: ${text}`)).toEqual(
    finding === null ? [] : [finding],
  );
  expect(found.unit).toBe(unit);
});

test('without an answer there is nothing to say', () => {
  expect(timeFindings(null, 'auto')).toEqual({ findings: [], unit: null });
});
