import { expect, test } from 'vitest';
import { redactTexts, textsIn } from '../../../src/engine/documents/redact-literals.ts';

test.each([
  ['invalid value "demo-pass-word"', ['demo', 'demo-pass-word'], 'invalid value "[…]"'],
  ['invalid value "abc"', ['abc'], 'invalid value "[…]"'],
  ['invalid value "007"', ['007'], 'invalid value "[…]"'],
  // GraphQL prints the value with escapes.
  [String.raw`found "say \"friend\""`, ['say "friend"'], 'found "[…]"'],
])(
  'a secret is redacted completely, even if it contains another secret: %s',
  (message, texts, expected) => {
    expect(redactTexts(message, texts)).toBe(expected);
  },
);

test('a message is cut before a long quoted value', () => {
  const value = 'secret '.repeat(100);
  const message = 'Variable "$f" has invalid value at .a[0]: It cannot be: ';
  expect(redactTexts(`${message}"${value}"`, [])).toBe(
    'Variable "$f" has invalid value at .a[0]: It cannot be.',
  );
  expect(redactTexts(`Expected no field "k", found: { ${value} }`, [])).toBe(
    'Expected no field "k".',
  );
  expect(redactTexts(`Cannot query field "${value}".`, [])).not.toContain('secret');
});

test('texts and numbers are found at any depth and in the longest list, up to five hundred', () => {
  const value = { a: ['one', { b: 12.5 }], c: null, d: true };
  expect([...textsIn(value)].sort()).toEqual(['12.5', 'one']);
  expect(textsIn({ list: Array(200_000).fill('x') })).toEqual(new Set(['x']));
  expect(textsIn(Array.from({ length: 501 }, (_, index) => `text ${index}`)).size).toBe(500);
});
