import { expect, test } from 'vitest';
import { geometricMean, median } from '../../bench/support/statistics.ts';

test('a ratio and its opposite cancel out in the geometric mean', () => {
  expect(geometricMean([0.5, 2])).toBeCloseTo(1);
  expect(geometricMean([2, 8])).toBeCloseTo(4);
});

test('the median of an even number of values is the upper one of the middle', () => {
  expect(median([4, 1, 3])).toBe(3);
  expect(median([4, 1, 3, 2])).toBe(3);
});
