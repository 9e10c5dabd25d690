import { expect, test } from 'vitest';
import { Slots } from '../../src/lib/slots.ts';

test('a key takes as many as there are, and another has its own', () => {
  const slots = new Slots();
  const first = slots.take('a', 2);
  expect(slots.take('a', 2)).not.toBeNull();
  expect(slots.take('a', 2)).toBeNull();
  expect(slots.take('b', 2)).not.toBeNull();
  first?.();
  expect(slots.take('a', 2)).not.toBeNull();
});

test('a slot is released once, however often release is called', () => {
  const slots = new Slots();
  const release = slots.take('a', 5);
  slots.take('a', 5);
  release?.();
  release?.();
  expect(slots.held('a')).toBe(1);
});
