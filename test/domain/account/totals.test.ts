import { expect, test } from 'vitest';
import { exactSum, totalsOf } from '../../../src/domain/account/totals.ts';
import { position } from '../feed/scripted-gateway.ts';

test('totals are exact sums, and null if a position lacks the figure', () => {
  const rows = [
    position('a', { profit: 0.1, invested: 10 }),
    position('b', { profit: 0.2, invested: null }),
  ];
  expect(totalsOf(rows)).toEqual({ count: 2, invested: null, profit: 0.3 });
  expect(totalsOf([])).toEqual({ count: 0, invested: 0, profit: 0 });
  // A sum above this maximum may be inexact, so it is null.
  const max = Number.MAX_SAFE_INTEGER;
  expect(totalsOf([position('a', { profit: max })]).profit).toBe(max);
  expect(totalsOf([position('a', { profit: max + 1 })]).profit).toBeNull();
});

test.each([
  ['no figures', [], 0],
  ['tenths', [0.1, 0.2], 0.3],
  ['cents that cancel', [0.1, 0.2, -0.3], 0],
  ['negative zero', [-0], 0],
  ['more decimals than money has', [0.000_000_1, 0.000_000_2], 0.000_000_3],
  ['figures with six and with seven decimals', [0.000_001, 0.000_000_1], 0.000_001_1],
  ['the rounding error of a sum of doubles', [0.300_000_000_000_000_04, -0.3], 4e-17],
  ['a small figure between large ones', [1e16, 0.01, -1e16], 0.01],
  [
    'small figures with a number so large that doubles skip whole numbers',
    [9_007_199_254_740_992, 1.5, 1.5],
    9_007_199_254_740_996,
  ],
  [
    'more millionths than a double counts exactly',
    [...Array(11).fill(999_999_999.999_999), ...Array(10).fill(-999_999_999.999_999)],
    999_999_999.999_999,
  ],
  ['exponents far apart', [1e300, 1e-300, -1e300], 1e-300],
  ['exponents with a fraction', [1.5e30, 2.5e-30, -1.5e30], 2.5e-30],
  ['integers of 21 digits', [123_456_789_012_345_680_000, 1e20], 223_456_789_012_345_680_000],
  ['the smallest double', [5e-324, 5e-324], 1e-323],
  ['the largest double', [Number.MAX_VALUE, 1, -1], Number.MAX_VALUE],
])('sums %s', (_what, figures, sum) => {
  expect(exactSum(figures)).toBe(sum);
});

test('the sum is null if it exceeds the largest double, or if a figure is not a finite number', () => {
  expect(exactSum([Number.MAX_VALUE, Number.MAX_VALUE])).toBeNull();
  expect(exactSum([1, Number.POSITIVE_INFINITY])).toBeNull();
  expect(exactSum([Number.NaN, 1])).toBeNull();
});
