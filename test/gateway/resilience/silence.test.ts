import { expect, test } from 'vitest';
import { createSilence } from '../../../src/gateway/resilience/silence.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const proved = (key: number) => ({ key: `account ${key}`, isProved: true });

function listen(minimumCalls = 6, minimumMs = 0) {
  const clock = createScriptedClock();
  const silence = createSilence(clock, { minimumCalls, minimumMs });
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
  expect([...silence.accounts]).toEqual(['account 1', 'account 2', 'account 3']);
  await clock.advance(10);
  lose(4);
  expect(silence.sinceMs).toBe(sinceMs);
});

test('it shows by a loss so long after the first one since the last answer', async () => {
  const { clock, silence, lose } = listen(3, 2_000);
  lose(1);
  await clock.advance(5_000);
  silence.answered();
  lose(1, 2, 3);
  await clock.advance(1_999);
  lose(1, 2, 3);
  expect(silence.sinceMs).toBe(null);
  await clock.advance(1);
  lose(1);
  expect(silence.sinceMs).toBe(clock.now());
});

test('the losses of two accounts since the last answer show no silence, nor those of callers that are not proved', () => {
  const two = listen();
  two.lose(3);
  two.silence.answered();
  two.lose(1, 2, 1, 2, 1, 2, 1, 2);
  expect(two.silence.sinceMs).toBe(null);
  const { silence } = listen();
  for (let at = 0; at < 50; at += 1) silence.lost({ key: `network ${at}`, isProved: false });
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

test('no more than 64 accounts are remembered', () => {
  const { silence, lose } = listen(1_000);
  lose(...Array.from({ length: 500 }, (_, key) => key));
  expect(silence.accounts.size).toBe(64);
});
