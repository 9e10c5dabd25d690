import { expect, test } from 'vitest';
import { Watermarks } from '../../src/lib/watermarks.ts';

const MOST = 100_000;

test('a key without a watermark has the highest of those that are forgotten', () => {
  const watermarks = new Watermarks();
  expect(watermarks.at('key 0')).toBe(Number.NEGATIVE_INFINITY);
  watermarks.set('early', { at: 30 });
  watermarks.set('late', { at: 20 });
  for (let key = 2; key < MOST; key += 1) watermarks.set(`key ${key}`, { at: 100 + key });
  expect(watermarks.at('unknown')).toBe(Number.NEGATIVE_INFINITY);
  watermarks.set('one more', { at: 7 });
  watermarks.set('and one', { at: 7 });
  expect(watermarks.byteSize).toBe(MOST * 145);
  expect(watermarks.get('early')).toBeUndefined();
  expect([watermarks.at('early'), watermarks.at('late'), watermarks.at('unknown')]).toEqual([
    30, 30, 30,
  ]);
  // A key that has one keeps it.
  expect(watermarks.at('one more')).toBe(7);
});

test('a watermark that is replaced is not forgotten', () => {
  const watermarks = new Watermarks();
  watermarks.set('key', { at: 5 });
  watermarks.set('key', { at: 6 });
  expect(watermarks.at('key')).toBe(6);
  expect(watermarks.at('unknown')).toBe(Number.NEGATIVE_INFINITY);
});

test('a watermark of all keys counts until a key has a later one', () => {
  const watermarks = new Watermarks();
  watermarks.set('key', { at: 5 });
  watermarks.setAll(6);
  expect([watermarks.at('key'), watermarks.at('unknown'), watermarks.byteSize]).toEqual([6, 6, 0]);
  watermarks.set('key', { at: 7 });
  expect([watermarks.at('key'), watermarks.at('unknown')]).toEqual([7, 6]);
});
