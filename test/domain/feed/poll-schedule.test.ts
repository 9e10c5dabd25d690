import { expect, test } from 'vitest';
import { PollSchedule } from '../../../src/domain/feed/poll-schedule.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';
import { createLiveBench } from './live-bench.ts';

/** Creates feeds that poll as often as the schedule lets them, and records their polls. */
function createPolls(pollsPerSecond: number, feeds: number, pollMs = 1_000) {
  const clock = createScriptedClock();
  const random = createSeededRandom(3).next;
  const schedule = new PollSchedule({ clock, pollsPerSecond, random });
  const polls: { readonly feed: number; readonly atMs: number }[] = [];
  const turns = Array.from({ length: feeds }, (_, feed) => {
    const scheduled = schedule.join(() => {
      polls.push({ feed, atMs: clock.now() });
      schedule.every(scheduled, pollMs, clock.now());
    });
    schedule.every(scheduled, pollMs, clock.now() - random() * pollMs);
    return scheduled;
  });
  return { clock, schedule, polls, turns, startMs: clock.now() };
}

/** The most polls in any second. */
function busiestSecond(polls: readonly { readonly atMs: number }[]): number {
  let busiest = 0;
  let oldest = 0;
  for (const [index, { atMs }] of polls.entries()) {
    // Skips the polls that are a second or more before this one.
    while ((polls[oldest]?.atMs ?? 0) <= atMs - 1_000) oldest += 1;
    const pollsInSecond = index - oldest + 1;
    busiest = Math.max(busiest, pollsInSecond);
  }
  return busiest;
}

test('if the feeds need more polls than the ceiling, all intervals are stretched equally', async () => {
  const { clock, polls, schedule, startMs } = createPolls(50, 200);
  await clock.advance(60_000);
  // Steady polls may use 95% of the ceiling of 50 a second.
  expect(schedule.stretch).toBeCloseTo(200 / 47.5);
  // The bound is one poll above the ceiling, because timers may be late.
  expect(busiestSecond(polls)).toBeLessThanOrEqual(51);
  const late = polls.filter(({ atMs }) => atMs > startMs + 20_000);
  const counts = new Map<number, number>();
  for (const { feed } of late) counts.set(feed, (counts.get(feed) ?? 0) + 1);
  expect(counts.size).toBe(200);
  expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(1);
});

test('polls of several accounts share wake-ups at the same rate', async () => {
  const { gateway, clock, viewer, followChanges } = createLiveBench({ pollsPerSecond: 100_000 });
  for (let n = 0; n < 200; n += 1) followChanges(viewer(`token ${n}`, { login: `${n}` }));
  await clock.advance(5_000);
  const before = gateway.polls.length;
  await clock.advance(10_000);
  const polls = gateway.polls.slice(before);
  expect(polls).toHaveLength(2_000);
  // In these ten seconds polls run in about forty wake-ups per second, instead of nearly two hundred.
  expect(new Set(polls.map(({ atMs }) => Math.round(atMs))).size).toBeLessThanOrEqual(410);
});

test.each([1, 2])(
  'a feed that backs off is polled early only after the gateway was silent for two intervals, stretched %i times',
  async (stretch) => {
    const { clock, schedule } = createPolls(50, 0);
    const polledAtMs: number[] = [];
    const startMs = clock.now();
    const failing = schedule.join(() => polledAtMs.push(clock.now() - startMs));
    // Steady polls may use 95% of the ceiling of 50 a second.
    const others = schedule.join(() => {});
    schedule.setDemand(others, 47.5 * stretch);
    schedule.answered(5_000);
    schedule.at(failing, startMs + 60_000, startMs);
    // Other feeds are answered in each interval, so only this feed fails.
    for (let answers = 0; answers < 3; answers += 1) {
      await clock.advance(5_000 * stretch);
      schedule.answered(5_000);
    }
    await clock.advance(10_000 * stretch - 1);
    expect(polledAtMs).toEqual([]);
    // The first answer after two silent intervals is the end of an outage.
    await clock.advance(1);
    schedule.answered(5_000);
    await clock.advance(2_000);
    expect(polledAtMs).toHaveLength(1);
  },
);

test('a poll that makes several calls, such as one for each page, counts as that many polls', async () => {
  const bench = createLiveBench({ pollsPerSecond: 20 });
  const { gateway, clock, viewer, followChanges } = bench;
  const getOpenPositions = gateway.getOpenPositions.bind(gateway);
  gateway.getOpenPositions = (caller, previous) => {
    for (let page = 0; page < 3; page += 1) {
      caller.receipt?.({ operation: 'getOpenPositions', ms: 0, source: 'call' });
    }
    return getOpenPositions(caller, previous);
  };
  for (let n = 0; n < 19; n += 1) followChanges(viewer(`token ${n}`, { login: `${n}` }));
  await clock.advance(20_000);
  const before = gateway.polls.length;
  await clock.advance(30_000);
  // 95 % of 20 calls a second are 6.3 polls of three pages.
  const perSecond = (gateway.polls.length - before) / 30;
  expect(perSecond).toBeGreaterThan(5.5);
  expect(perSecond).toBeLessThan(6.7);
});
