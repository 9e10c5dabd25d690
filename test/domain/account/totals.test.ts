import { expect, test } from 'vitest';
import { totalsOf } from '../../../src/domain/account/totals.ts';
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
