import { expect, test } from 'vitest';
import { backoffMs } from '../../src/lib/backoff.ts';

test('each failure doubles the wait up to the ceiling', () => {
  const options = { baseMs: 100, maxMs: 1_000, random: () => 1 };
  expect([1, 2, 3, 4, 5, 2_000].map((failures) => backoffMs(failures, options))).toEqual([
    200, 400, 800, 1_000, 1_000, 1_000,
  ]);
});

test('jitter moves the wait within its upper half', () => {
  const at = (random: number) => backoffMs(3, { baseMs: 100, maxMs: 10_000, random: () => random });
  expect(at(0)).toBe(400);
  expect(at(0.5)).toBe(600);
});
