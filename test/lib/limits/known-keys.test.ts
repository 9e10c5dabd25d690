import { expect, test } from 'vitest';
import { KnownKeys } from '../../../src/lib/limits/known-keys.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const LIFE_MS = 3_600_000;

test('a key is known until it expires or is deleted', async () => {
  const clock = createScriptedClock();
  const known = new KnownKeys(clock, LIFE_MS);
  expect(known.has('a')).toBe(false);
  known.add('a');
  await clock.advance(LIFE_MS - 1);
  expect([known.has('a'), known.has('b')]).toEqual([true, false]);
  await clock.advance(1);
  expect(known.has('a')).toBe(false);
  known.add('a');
  known.delete('a');
  expect(known.has('a')).toBe(false);
});

test('the memory is bounded: a new key replaces the oldest', () => {
  const known = new KnownKeys(createScriptedClock(), LIFE_MS);
  for (let index = 0; index < 100_000; index += 1) known.add(String(index));
  const full = known.byteSize;
  known.add('one more');
  expect(known.byteSize).toBe(full);
  expect([known.has('0'), known.has('1'), known.has('one more')]).toEqual([false, true, true]);
});
