import { expect, test } from 'vitest';
import { momentText } from '../../src/lib/moment-text.ts';

const DAY_MS = 86_400_000;

test('each day of the calendar is written as toISOString writes it', () => {
  for (let ms = Date.UTC(1969, 11, 30); ms < Date.UTC(2200, 0, 3); ms += DAY_MS) {
    for (const moment of [ms, ms + DAY_MS - 1]) {
      if (momentText(moment) !== isoText(moment)) expect(momentText(moment)).toBe(isoText(moment));
    }
  }
});

test('each second of a day, and each millisecond of a second, too', () => {
  const startMs = Date.UTC(2026, 10, 20);
  const moments = [
    ...Array.from({ length: 86_400 }, (_, second) => startMs + second * 1_000),
    ...Array.from({ length: 1_000 }, (_, ms) => startMs + ms),
  ];
  expect(moments.filter((moment) => momentText(moment) !== isoText(moment))).toEqual([]);
});

test.each([
  [0],
  [-1],
  [8.64e15],
  [-8.64e15],
  [Date.UTC(2200)],
  [Date.UTC(10_000)],
  [Date.UTC(-1, 0)],
  [1_763_630_400_000.5],
])('also %i milliseconds from 1970', (ms) => {
  expect(momentText(ms)).toBe(isoText(ms));
});

test('no moment at all is an error', () => {
  expect(() => momentText(Number.NaN)).toThrow(RangeError);
});

function isoText(ms: number): string {
  return new Date(ms).toISOString();
}
