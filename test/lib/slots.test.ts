import { expect, test } from 'vitest';
import { Slots } from '../../src/lib/slots.ts';

test('a key takes as many as there are, and another has its own', () => {
  const slots = new Slots();
  const first = slots.take('a', 2);
  expect(slots.take('a', 2)).not.toBeNull();
  expect(slots.take('a', 2)).toBeNull();
  expect(slots.take('b', 2)).not.toBeNull();
  first?.release();
  expect(slots.take('a', 2)).not.toBeNull();
});

test('a slot is released once, however often release is called', () => {
  const slots = new Slots();
  const slot = slots.take('a', 5);
  slots.take('a', 5);
  slot?.release();
  slot?.release();
  expect(slots.held('a')).toBe(1);
});

test('a slot moves to a key that has one left, and is released there', () => {
  const slots = new Slots();
  const slot = slots.take('a', 1);
  expect(slot?.moveTo('b', 1)).toBe(true);
  expect([slots.held('a'), slots.held('b')]).toEqual([0, 1]);
  expect(slot?.moveTo('b', 1)).toBe(true);
  const other = slots.take('a', 1);
  expect(other?.moveTo('b', 1)).toBe(false);
  expect([slots.held('a'), slots.held('b')]).toEqual([1, 1]);
  slot?.release();
  expect([slots.held('a'), slots.held('b')]).toEqual([1, 0]);
});

test('a slot that was released takes none elsewhere', () => {
  const slots = new Slots();
  const slot = slots.take('a', 1);
  slot?.release();
  expect(slot?.moveTo('b', 1)).toBe(true);
  expect([slots.held('a'), slots.held('b')]).toEqual([0, 0]);
});
