import { expect, test } from 'vitest';
import { SteadySubscription } from '../../src/follow/steady-subscription.ts';
import type { FollowRequest, FollowSink } from '../../src/follow/subscribe-function.ts';
import { FakeTime } from '../../src/testing/fake-time.ts';

const DATA = { data: { list: [] } };
const SILENT = 'disconnected: The connection was silent.';
const LOST = 'disconnected: The connection was lost.';

/** A subscription by a client whose attempts the test answers, in a time that it moves. Pauses are as long as they can be. */
function start({ isAway = false } = {}) {
  const time = new FakeTime();
  const events: string[] = [];
  const attempts: { readonly sink: FollowSink; isLeft: boolean }[] = [];
  const line = { isAway, terminated: 0 };
  const steady = new SteadySubscription({
    client: {
      subscribe(_request: FollowRequest, sink: FollowSink) {
        if (line.isAway) throw new Error('refused');
        const attempt = { sink, isLeft: false };
        attempts.push(attempt);
        return () => {
          attempt.isLeft = true;
        };
      },
      terminate() {
        line.terminated += 1;
      },
    },
    request: () => ({ query: '', variables: {} }),
    environment: {
      random: () => 1,
      uptime: () => time.uptimeMs,
      after: (ms, task) => time.after(ms, task),
    },
    sink: {
      next: () => events.push('next'),
      ended: (error) => events.push(`ended: ${error?.message}`),
      connected: () => events.push('connected'),
      disconnected: (error) => events.push(`disconnected: ${error?.message}`),
    },
  });
  const answer = (index: number) => attempts[index]?.sink.next(DATA);
  const left = () => attempts.map(({ isLeft }) => isLeft);
  return { answer, attempts, events, left, line, steady, time };
}

test.each([
  [1_000, 5_000],
  [3_000, 12_000],
  [10_000, 20_000],
])(
  'after a pause of %i ms a silence of %i ms is tried by a second subscription, which takes the first one’s place',
  async (pauseMs, silenceMs) => {
    const { answer, attempts, events, left, time } = start();
    answer(0);
    // Events up to here are as close as the pause allows.
    for (let passedMs = 0; passedMs < pauseMs; passedMs += 1_000) await time.pass(1_000);
    answer(attempts.length - 1);
    const before = attempts.length;
    await time.pass(silenceMs - 1);
    expect(attempts).toHaveLength(before);
    await time.pass(1);
    expect(attempts).toHaveLength(before + 1);
    expect(left().slice(-2)).toEqual([false, false]);
    events.length = 0;
    answer(before);
    expect(left().slice(-2)).toEqual([true, false]);
    attempts[before - 1]?.sink.next(DATA);
    attempts[before - 1]?.sink.error(new Error('late'));
    attempts[before - 1]?.sink.complete();
    expect(events).toEqual(['connected', 'next']);
  },
);

test('if the first subscription answers while the second is tried, the connection is not dead', async () => {
  const { answer, events, left, time } = start();
  answer(0);
  await time.pass(5_000);
  answer(0);
  await time.pass(4_500);
  expect(events).toEqual(['connected', 'next', 'next']);
  answer(1);
  expect(left()).toEqual([true, false]);
});

test('a connection on which the second subscription has no answer for four seconds is dead, and replaced at once', async () => {
  const { answer, events, left, line, time } = start();
  answer(0);
  await time.pass(5_000 + 3_999);
  expect(events).toEqual(['connected', 'next']);
  await time.pass(1);
  expect(events.at(-1)).toBe(SILENT);
  expect(left()).toEqual([true, true, false]);
  expect(line.terminated).toBe(1);
  answer(2);
  expect(events.slice(-2)).toEqual(['connected', 'next']);
});

test('if the second subscription fails, both are left, and another is opened', async () => {
  const { answer, attempts, events, left, time } = start();
  answer(0);
  await time.pass(5_000);
  attempts[1]?.sink.error(new Error('lost'));
  expect(events.at(-1)).toBe(LOST);
  await time.pass(1_000);
  expect(left()).toEqual([true, true, false]);
});

test('a lost connection is tried again after pauses of at most one, two and four seconds, and anew after an answer', async () => {
  const { answer, attempts, events, line, time } = start();
  answer(0);
  line.isAway = true;
  attempts[0]?.sink.error(new Error('lost'));
  expect(events.at(-1)).toBe(LOST);
  const tries: number[] = [];
  for (let second = 1; second <= 15; second += 1) {
    const before = events.length;
    await time.pass(1_000);
    if (events.length > before) tries.push(second);
  }
  expect(tries).toEqual([1, 3, 7, 11, 15]);
  line.isAway = false;
  await time.pass(4_000);
  expect(attempts).toHaveLength(2);
  answer(1);
  attempts[1]?.sink.complete();
  expect(events.at(-1)).toBe(LOST);
  await time.pass(1_000);
  expect(attempts).toHaveLength(3);
});

test('after a minute without an answer pauses and waits are twenty seconds long', async () => {
  const { attempts, events, line, time } = start({ isAway: true });
  await time.pass(63_000);
  const before = events.length;
  line.isAway = false;
  await time.pass(19_999);
  expect(attempts).toHaveLength(0);
  await time.pass(1);
  expect(attempts).toHaveLength(1);
  await time.pass(19_999);
  expect(events).toHaveLength(before);
  await time.pass(1);
  expect(events.at(-1)).toBe(SILENT);
});

test('its end leaves all subscriptions, and nothing happens any more', async () => {
  const { answer, events, left, steady, time } = start();
  answer(0);
  await time.pass(5_000);
  steady.end();
  expect(left()).toEqual([true, true]);
  expect(time.pending).toBe(0);
  answer(0);
  answer(1);
  expect(events).toEqual(['connected', 'next']);
});
