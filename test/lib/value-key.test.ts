import { expect, test } from 'vitest';
import { valueKey } from '../../lib/value-key.ts';

class Price {
  readonly cents = 1;
}

const VALUES = [
  ...[null, undefined, true, 0, -0, 1, 1n, 'null', '1', [], {}, [1], { a: 1 }, [undefined], ['1']],
  ...[{ a: { b: 1 } }, { a: [1, 2] }, { a: [12] }, { 'a:1,b': 2 }, { a: 1, b: 2 }],
  ...[Symbol('a'), Symbol('a'), Symbol.for('a'), /a/, /a/, new Price(), new Price(), new Map()],
  ...[() => 1, () => 1, new Date(0), new Date(1), Number.NaN],
];

test('only the same value, or one of equal parts, has the same key', () => {
  const keys = VALUES.map(valueKey);
  expect(new Set(keys).size).toBe(VALUES.length);
  expect(VALUES.map(valueKey)).toEqual(keys);
  expect(valueKey({ since: new Date(5) })).toBe(valueKey({ since: new Date(5) }));
  expect(valueKey(Object.assign(Object.create(null), { a: [1] }))).toBe(valueKey({ a: [1] }));
});
