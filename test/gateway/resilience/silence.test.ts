import { expect, test } from 'vitest';
import { createSilence } from '../../../src/gateway/resilience/silence.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const MIN_CALLS = 6;

const proved = (key: number) => ({ key: `account ${key}`, isProved: true });

function listen() {
  const clock = createScriptedClock();
  const silence = createSilence(clock, MIN_CALLS);
  const lose = (...keys: number[]) => {
    for (const key of keys) silence.lost(proved(key));
  };
  return { clock, silence, lose };
}

test('a backend is silent once enough calls of three accounts had no answer', async () => {
  const { clock, silence, lose } = listen();
  lose(1, 1, 1, 2, 3);
  expect(silence.sinceMs).toBe(null);
  await clock.advance(10);
  lose(3);
  const sinceMs = clock.now();
  expect(silence.sinceMs).toBe(sinceMs);
  await clock.advance(10);
  lose(4);
  expect(silence.sinceMs).toBe(sinceMs);
});

test('the losses of two accounts, or mostly of one, show no silence', () => {
  const two = listen();
  two.lose(1, 2, 1, 2, 1, 2, 1, 2);
  expect(two.silence.sinceMs).toBe(null);
  const one = listen();
  one.lose(2, 3, 1, 1, 1, 1, 1, 1, 1);
  expect(one.silence.sinceMs).toBe(null);
  one.lose(2, 3, 2, 3, 2);
  expect(one.silence.sinceMs).not.toBe(null);
});

test('callers that are not proved count as one, however many they claim to be', () => {
  const { silence } = listen();
  for (let at = 0; at < 50; at += 1) silence.lost({ key: `network ${at}`, isProved: false });
  expect(silence.sinceMs).toBe(null);
});

test('an answer ends it, and what was lost before counts no more', () => {
  const { silence, lose } = listen();
  lose(1, 2, 3, 1, 2);
  silence.answered();
  lose(3);
  expect(silence.sinceMs).toBe(null);
  lose(1, 2, 3, 1, 2);
  expect(silence.sinceMs).not.toBe(null);
  silence.answered();
  expect(silence.sinceMs).toBe(null);
});

test('it has lasted while calls go on without an answer', async () => {
  const { clock, silence, lose } = listen();
  lose(1);
  expect(silence.lasted(100)).toBe(false);
  lose(1, 2, 2, 3, 3);
  await clock.advance(99);
  expect(silence.lasted(100)).toBe(true);
  await clock.advance(1);
  expect(silence.lasted(100)).toBe(false);
  lose(1);
  expect(silence.lasted(100)).toBe(true);
});

test('no more than 64 accounts are remembered, and go on being counted', () => {
  const clock = createScriptedClock();
  const silence = createSilence(clock, 66);
  for (let key = 0; key < 500; key += 1) silence.lost(proved(key));
  expect(silence.sinceMs).toBe(null);
  silence.lost(proved(0));
  silence.lost(proved(1));
  expect(silence.sinceMs).not.toBe(null);
});
