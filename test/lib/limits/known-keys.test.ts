import { expect, test } from 'vitest';
import { KnownKeys } from '../../../src/lib/limits/known-keys.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const LIFE_MS = 3_600_000;

test('a key is known for its life, and no more once it is deleted', async () => {
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

test('keys that are unknown here are asked of the other replicas, which get all of them', async () => {
  const clock = createScriptedClock();
  const told: unknown[] = [];
  const known = new KnownKeys(clock, LIFE_MS, {
    add: (key, untilMs) => void told.push([key, untilMs]),
    delete: (key) => void told.push(key),
    has: async (key) => key === 'theirs',
  });
  known.add('ours');
  expect(known.has('ours')).toBe(true);
  expect([known.hasHere('theirs'), await known.has('theirs')]).toEqual([false, true]);
  expect(await known.has('nobody’s')).toBe(false);
  known.delete('theirs');
  expect(told).toEqual([['ours', clock.date() + LIFE_MS], 'theirs']);
});

test('a flood of keys costs no more memory, and forgets the oldest', () => {
  const known = new KnownKeys(createScriptedClock(), LIFE_MS);
  for (let at = 0; at < 100_000; at += 1) known.add(String(at));
  const full = known.byteSize;
  known.add('one more');
  expect(known.byteSize).toBe(full);
  expect([known.has('0'), known.has('1'), known.has('one more')]).toEqual([false, true, true]);
});
