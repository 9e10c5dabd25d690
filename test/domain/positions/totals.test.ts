import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactSum, totalsOf } from '../../../src/domain/positions/totals.ts';
import { position } from './scripted-gateway.ts';

test('totals are exact sums, and null where a position lacks the figure', () => {
  const rows = [
    position('a', { profit: 0.1, invested: 10 }),
    position('b', { profit: 0.2, invested: null }),
  ];
  expect(totalsOf(rows)).toEqual({ count: 2, invested: null, profit: 0.3 });
  expect(totalsOf([])).toEqual({ count: 0, invested: 0, profit: 0 });
  const most = Number.MAX_SAFE_INTEGER;
  expect(totalsOf([position('a', { profit: most })]).profit).toBe(most);
  expect(totalsOf([position('a', { profit: most + 1 })]).profit).toBeNull();
});

test.each([
  ['no figure', [], 0],
  ['tenths', [0.1, 0.2], 0.3],
  ['cents that cancel', [0.1, 0.2, -0.3], 0],
  ['negative zero', [-0], 0],
  ['negative zeros', [-0, -0], 0],
  ['more decimals than money has', [0.000_000_1, 0.000_000_2], 0.000_000_3],
  ['the sixth and the seventh decimal', [0.000_001, 0.000_000_1], 0.000_001_1],
  ['what another sum of doubles left behind', [0.300_000_000_000_000_04, -0.3], 4e-17],
  ['a small figure between large ones', [1e16, 0.01, -1e16], 0.01],
  [
    'a cent beside more than a double counts by ones',
    [9_007_199_254_740_992, 1.5, 1.5],
    9_007_199_254_740_996,
  ],
  [
    'more millionths than a double counts by ones',
    [...Array(11).fill(999_999_999.999_999), ...Array(10).fill(-999_999_999.999_999)],
    999_999_999.999_999,
  ],
  ['exponents far apart', [1e300, 1e-300, -1e300], 1e-300],
  ['exponents with a fraction', [1.5e30, 2.5e-30, -1.5e30], 2.5e-30],
  ['the smallest double', [5e-324, 5e-324], 1e-323],
  ['the largest double', [Number.MAX_VALUE, 1, -1], Number.MAX_VALUE],
  ['integers of 21 digits', [123_456_789_012_345_680_000, 1e20], 223_456_789_012_345_680_000],
])('sums %s', (_what, figures, sum) => {
  expect(exactSum(figures)).toBe(sum);
});

test('a sum beyond a double, or of what is no number, is none', () => {
  expect(exactSum([Number.MAX_VALUE, Number.MAX_VALUE])).toBeNull();
  expect(exactSum([1, Number.POSITIVE_INFINITY])).toBeNull();
  expect(exactSum([Number.NaN, 1])).toBeNull();
});

// The definition, at a cost that the implementation avoids: each figure as a whole number of 10^-400.
function byDefinition(figures: readonly number[]): number {
  const total = figures.reduce((sum, figure) => sum + tenToMinus400(figure), 0n);
  return Number(`${total}e-400`);
}

function tenToMinus400(figure: number): bigint {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e(.+))?$/.exec(String(figure)) ?? [];
  const magnitude =
    BigInt(`${whole}${fraction}`) * 10n ** BigInt(400 + Number(exponent) - fraction.length);
  return sign === '-' ? -magnitude : magnitude;
}

const money = fc.integer({ min: -1e12, max: 1e12 }).map((cents) => cents / 100);
const small = fc.double({ min: -1e-3, max: 1e-3, noNaN: true });
const any = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((x) => Math.abs(x) < 1e300);

test('sums any figures by their digits', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(money, small, any), { maxLength: 40 }), (figures) => {
      expect(exactSum(figures)).toBe(byDefinition(figures) + 0);
    }),
    { numRuns: 2_000 },
  );
});
