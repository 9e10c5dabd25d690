import { expect, test } from 'vitest';
import { PollSlots } from '../../../src/domain/positions/poll-scheduler.ts';
import { Follower } from './follower.ts';
import { createLiveBench } from './live-bench.ts';
import { position } from './scripted-gateway.ts';

const NOW_MS = 1_795_000_000_000;

test('a rhythm does not slip for timers that fire a little late', () => {
  const slots = new PollSlots(() => 0.3);
  for (const intervalMs of [100, 250, 1_000, 5_000]) {
    let dueMs = slots.near(NOW_MS, intervalMs);
    const beganAtMs = dueMs;
    for (let polls = 0; polls < 100; polls += 1) {
      const lateMs = polls % 2 ? Math.min(intervalMs, 1_000) / 200 : 0;
      dueMs = slots.near(dueMs + lateMs + intervalMs, intervalMs);
    }
    expect(Math.abs(dueMs - beganAtMs - 100 * intervalMs)).toBeLessThan(1);
  }
});

test('accounts are polled together, and no less often for it', async () => {
  const { hub, gateway, clock, viewer, prove } = createLiveBench({ pollsPerSecond: 100_000 });
  const followers = Array.from({ length: 200 }, (_, at) => {
    const login = String(at);
    gateway.set(login, [position('a')]);
    const watching = viewer(`token ${at}`, { login });
    return new Follower(hub.watchChanges(prove(watching), watching));
  });
  await clock.advance(5_000);
  const before = gateway.polls.length;
  await clock.advance(10_000);
  const polls = gateway.polls.slice(before);
  expect(polls.length).toBeGreaterThanOrEqual(1_980);
  expect(polls.length).toBeLessThanOrEqual(2_020);
  // Polls fall on forty moments in each second, instead of nearly two hundred.
  expect(new Set(polls.map(({ atMs }) => Math.round(atMs))).size).toBeLessThanOrEqual(410);
  for (const follower of followers) await follower.leave();
});
