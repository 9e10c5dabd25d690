import { expect, test } from 'vitest';
import { StacklessError, withoutStack } from '../../lib/stackless-error.ts';

test('its stack is its message alone, and other errors keep theirs', () => {
  expect(new StacklessError('gone', { cause: 1 })).toMatchObject({ message: 'gone', cause: 1 });
  expect(new StacklessError('gone').stack).toBe('Error: gone');
  expect(new Error('here').stack).toContain('stackless-error.test.ts');
});

test('what is made without a stack may throw, and other errors keep theirs', () => {
  expect(withoutStack(() => new TypeError('gone')).stack).toBe('TypeError: gone');
  const failing = () => {
    throw new Error('not made');
  };
  expect(() => withoutStack(failing)).toThrow('not made');
  expect(new Error('here').stack).toContain('stackless-error.test.ts');
});
