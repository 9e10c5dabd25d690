import { expect, test } from 'vitest';
import { momentText, parseMoment } from '../../src/lib/moment-text.ts';

const DAY_MS = 86_400_000;

test('each day of the calendar, second of a day and millisecond of a second is formatted as by toISOString', () => {
  const moments: number[] = [];
  for (let ms = Date.UTC(1969, 11, 30); ms < Date.UTC(2200, 0, 3); ms += DAY_MS) {
    moments.push(ms, ms + DAY_MS - 1);
  }
  const startMs = Date.UTC(2026, 10, 20);
  for (let index = 0; index < 86_400; index += 1)
    moments.push(startMs + index * 1_000 + (index % 1_000));
  expect(moments.filter((moment) => momentText(moment) !== isoText(moment))).toEqual([]);
});

test.each([
  ...[0, -1, 8.64e15, -8.64e15, 1_763_630_400_000.5],
  ...[Date.UTC(2200), Date.UTC(10_000), Date.UTC(-1, 0)],
])('%d milliseconds from 1970 are formatted as by toISOString', (ms) => {
  expect(momentText(ms)).toBe(isoText(ms));
});

test.each([
  ['2026-11-20T09:30:00.000Z', Date.UTC(2026, 10, 20, 9, 30)],
  ['2026-11-20T09:30:00Z', Date.UTC(2026, 10, 20, 9, 30)],
  ['2026-11-20T09:30:00.5Z', Date.UTC(2026, 10, 20, 9, 30, 0, 500)],
  ['2026-11-20T09:30:00.123456789Z', Date.UTC(2026, 10, 20, 9, 30, 0, 123)],
  ['2026-11-20T00:30:00+03:30', Date.UTC(2026, 10, 19, 21, 0)],
  ['2026-02-28T23:30:00-01:00', Date.UTC(2026, 2, 1, 0, 30)],
  ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
])('%s is parsed', (text, ms) => {
  expect(parseMoment(text)).toBe(ms);
});

test.each([
  ...['2026-02-29T00:00:00Z', '2026-02-30T00:00:00Z', '2026-04-31T00:00:00+02:00'],
  ...['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-01-00T00:00:00Z'],
  ...['2026-11-20T24:00:00Z', '2026-11-20T23:59:60Z', '2026-11-20T09:60:00Z'],
  ...['2026-11-20T09:30:00', '2026-11-20T09:30Z', '2026-11-20', '2026-11-20T09:30:00+25:00'],
  ...['2026-11-20 09:30:00Z', '2026-11-20t09:30:00z', '+002026-11-20T09:30:00Z', '1795392427840'],
  ...['2026-11-20T09:30:00.Z', ' 2026-11-20T09:30:00Z', '2026-11-20T09:30:00Z\n', '', 'tomorrow'],
])('%j is not a moment', (text) => {
  expect(parseMoment(text)).toBe(null);
});

function isoText(ms: number): string {
  return new Date(ms).toISOString();
}
