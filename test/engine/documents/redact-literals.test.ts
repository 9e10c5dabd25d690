import { expect, test } from 'vitest';
import { redactTexts, textsIn } from '../../../src/engine/documents/redact-literals.ts';

test.each([
  ['invalid value "demo-pass-word"', ['demo', 'demo-pass-word'], 'invalid value "[…]"'],
  ['invalid value "abc"', ['abc'], 'invalid value "[…]"'],
  ['invalid value "007"', ['007'], 'invalid value "[…]"'],
  // As the language writes it.
  [String.raw`found "say \"friend\""`, ['say "friend"'], 'found "[…]"'],
])('a secret is redacted whole, next to a longer or a shorter one: %s', (said, texts, left) => {
  expect(redactTexts(said, texts)).toBe(left);
});

test('a message that quotes a long value is cut before it', () => {
  const value = 'secret '.repeat(100);
  const said = 'Variable "$f" has invalid value at .a[0]: It cannot be: ';
  expect(redactTexts(`${said}"${value}"`, [])).toBe(
    'Variable "$f" has invalid value at .a[0]: It cannot be.',
  );
  expect(redactTexts(`Expected no field "k", found: { ${value} }`, [])).toBe(
    'Expected no field "k".',
  );
  expect(redactTexts(`Cannot query field "${value}".`, [])).not.toContain('secret');
});

test('texts and numbers are found at any depth, in a list as long as a body can hold, and five hundred of them', () => {
  const value = { a: ['one', { b: 12.5 }], c: null, d: true };
  expect([...textsIn(value)].sort()).toEqual(['12.5', 'one']);
  expect(textsIn({ list: Array(200_000).fill('x') })).toEqual(new Set(['x']));
  expect(textsIn(Array.from({ length: 501 }, (_, at) => `text ${at}`)).size).toBe(500);
});
