import { expect, test } from 'vitest';
import { StacklessError, withoutStack } from '../../src/lib/public-error.ts';

test('an error made without a stack has only its message, and other errors keep their stacks', () => {
  const gone = new StacklessError('gone', { cause: 1 });
  expect(gone).toMatchObject({ message: 'gone', cause: 1, stack: 'Error: gone' });
  expect(withoutStack(() => new TypeError('gone')).stack).toBe('TypeError: gone');
  const failing = () => {
    throw new Error('not made');
  };
  expect(() => withoutStack(failing)).toThrow('not made');
  expect(new Error('here').stack).toContain('public-error.test.ts');
});
