import { expect, test } from 'vitest';
import { redactTexts } from '../../../src/engine/documents/redact-literals.ts';

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
