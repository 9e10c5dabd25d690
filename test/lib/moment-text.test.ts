import { expect, test } from 'vitest';
import { momentText } from '../../src/lib/moment-text.ts';

const DAY_MS = 86_400_000;

test('each day of the calendar is written as toISOString writes it', () => {
  for (let ms = Date.UTC(1969, 11, 30); ms < Date.UTC(2200, 0, 3); ms += DAY_MS) {
    for (const moment of [new Date(ms), new Date(ms + DAY_MS - 1)]) {
      if (momentText(moment) !== moment.toISOString()) {
        expect(momentText(moment)).toBe(moment.toISOString());
      }
    }
  }
});

test('each second of a day, and each millisecond of a second, too', () => {
  const startMs = Date.UTC(2026, 10, 20);
  const moments = [
    ...Array.from({ length: 86_400 }, (_, second) => new Date(startMs + second * 1_000)),
    ...Array.from({ length: 1_000 }, (_, ms) => new Date(startMs + ms)),
  ];
  expect(moments.filter((moment) => momentText(moment) !== moment.toISOString())).toEqual([]);
});

test.each([
  [0],
  [-1],
  [8.64e15],
  [-8.64e15],
  [Date.UTC(2200)],
  [Date.UTC(10_000)],
  [Date.UTC(-1, 0)],
])('also %i milliseconds from 1970', (ms) => {
  expect(momentText(new Date(ms))).toBe(new Date(ms).toISOString());
});

test('no moment at all is an error', () => {
  expect(() => momentText(new Date(Number.NaN))).toThrow(RangeError);
});
