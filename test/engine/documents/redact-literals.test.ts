import { expect, test } from 'vitest';
import { redactTexts, textsIn } from '../../../engine/documents/redact-literals.ts';

test('a text that is a prefix of another leaves nothing of it behind', () => {
  const redacted = redactTexts('invalid value "demo-pass-word"', ['demo', 'demo-pass-word']);
  expect(redacted).toBe('invalid value "[…]"');
});

test.each(['abc', '007', 'abcdefg'])('a text as short as %s is redacted', (text) => {
  expect(redactTexts(`invalid value "${text}"`, [text])).toBe('invalid value "[…]"');
});

test('a text is redacted as it is, and as the language writes it', () => {
  expect(redactTexts(String.raw`found "say \"friend\""`, ['say "friend"'])).toBe('found "[…]"');
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

test('texts and numbers are found at any depth', () => {
  const value = { a: ['one', { b: 12.5 }], c: null, d: true };
  expect([...textsIn(value)].sort()).toEqual(['12.5', 'one']);
});

test('a list as long as a body can hold is looked through', () => {
  expect(textsIn({ list: Array.from({ length: 200_000 }, () => 'x') })).toEqual(new Set(['x']));
});

test('of more texts than any form has the first five hundred are looked for', () => {
  expect(textsIn(Array.from({ length: 501 }, (_, at) => `text ${at}`)).size).toBe(500);
});
