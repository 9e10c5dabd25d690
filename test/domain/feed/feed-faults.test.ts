import { expect, onTestFinished, test } from 'vitest';
import { LOGIN as LOGIN_OF } from '../../../src/lib/account.ts';
import { onBackgroundFailure } from '../../../src/lib/fire-and-forget.ts';
import { accountNamed, loginNamed } from '../../support/accounts.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { gatewayError, position } from './scripted-gateway.ts';

test('the pause after a failure doubles up to its maximum, with jitter', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  followChanges(viewer('phone'));
  await clock.advance(3_000);
  gateway.failWith('unavailable');
  const before = gateway.polls.length;
  await clock.advance(240_000);
  const times = gateway.polls.slice(before).map(({ atMs }) => atMs);
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
  // Jitter shortens a pause by up to half.
  for (const [index, pauseMs] of [2_000, 4_000, 8_000, 16_000].entries()) {
    expect(gaps[index]).toBeGreaterThanOrEqual(pauseMs / 2);
    expect(gaps[index]).toBeLessThanOrEqual(pauseMs);
  }
  const longest = gaps.slice(4);
  expect(longest.every((gapMs) => gapMs >= 15_000 && gapMs <= 30_000)).toBe(true);
  expect(new Set(longest.map(Math.round)).size).toBe(longest.length);
});

test.each([
  ['', 5, 5_000],
  [', up to the maximum pause', 3_600, 30_000],
])(
  'after a 429 no poll is sent within its Retry-After%s, even if a client reconnects or places an order',
  async (_, retryAfterSeconds, waitMs) => {
    const { changed, clock, gateway, viewer, followChanges } = createLiveBench();
    gateway.set(LOGIN, [position('a')]);
    const follower = followChanges(viewer('phone'));
    await clock.advance(3_000);
    gateway.failWith('rate-limited', retryAfterSeconds);
    await clock.advance(1_000);
    const before = gateway.polls.length;
    const failedAtMs = gateway.polls.at(-1)?.atMs ?? 0;
    changed(accountNamed(LOGIN));
    await follower.leave();
    const newcomer = followChanges(viewer('tablet'));
    const lastMomentMs = failedAtMs + waitMs - 1;
    await clock.advance(lastMomentMs - clock.now());
    expect(gateway.polls.length).toBe(before);
    expect(newcomer.events[0]).toMatchObject({ snapshot: true, status: 'DELAYED' });
    await clock.advance(1_001);
    expect(gateway.polls.length).toBe(before + 1);
  },
);

test('after an outage the first answer makes the other feeds poll within two seconds', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  const logins = Array.from({ length: 42 }, (_, index) => String(2_000 + index));
  // The feed `failing` still fails after the outage. The feed `limited` has a Retry-After.
  const [failing, limited, ...others] = logins;
  const followers = logins.map((login) => followChanges(viewer(login, { login })));
  const callTimes = (wanted?: string) =>
    gateway.polls.flatMap(({ login, atMs }) => (login === wanted ? atMs : []));
  await clock.advance(3_000);
  gateway.fault = ({ [LOGIN_OF]: login }) =>
    login === loginNamed(limited ?? '')
      ? gatewayError('rate-limited', 30)
      : gatewayError('contract');
  await clock.advance(50_000);
  expect(followers.filter(({ last }) => last?.status === 'LIVE')).toEqual([]);
  // Clients that reconnect during the outage wait no longer than the others.
  for (const login of others.slice(0, 20)) {
    await followers[logins.indexOf(login)]?.leave();
    followChanges(viewer(login, { login }));
  }
  const limitedAtMs = callTimes(limited).at(-1) ?? 0;
  const failedCalls = callTimes(failing).length;
  const healedAtMs = clock.now();
  gateway.fault = ({ [LOGIN_OF]: login }) =>
    login === loginNamed(failing ?? '') ? gatewayError('contract') : null;
  await clock.advance(31_001);
  const firstCallAfter = (login?: string) =>
    callTimes(login).find((atMs) => atMs >= healedAtMs) ?? 0;
  const firstCalls = others.map(firstCallAfter).toSorted((a, b) => a - b);
  const [firstMs = 0] = firstCalls;
  // All feeds poll within two seconds and some milliseconds in the queue, but not all at once.
  expect(firstCalls.at(-1)).toBeLessThanOrEqual(firstMs + 2_020);
  expect(firstCalls[others.length / 2]).toBeGreaterThan(firstMs + 500);
  expect(firstCallAfter(limited)).toBeGreaterThanOrEqual(limitedAtMs + 30_000);
  // By now the pauses of this feed last 15 seconds or more.
  expect(callTimes(failing).length).toBeLessThanOrEqual(failedCalls + 3);
});

test('a subscription whose first list is late ends with the error of its call', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench({ pollsPerSecond: 1 });
  gateway.failWith('unavailable');
  const followers = ['1001', '1002'].map((login) => followChanges(viewer(login, { login })));
  await followChanges(viewer('gone', { login: '1002' })).leave();
  await clock.advance(4_900);
  expect(followers.map(({ hasEnded }) => hasEnded)).toEqual([false, false]);
  await followChanges(viewer('late', { login: '1001' })).leave();
  // Each of the two feeds has a deadline and a next poll. The clients that left have no timers.
  expect(clock.pending).toBe(4);
  await clock.advance(600);
  // One poll a second is allowed, so the second feed's first call waited a second, and its deadline is a second later.
  expect(followers.map(({ hasEnded }) => hasEnded)).toEqual([true, false]);
  await clock.advance(4_400);
  const error = { kind: 'unavailable', operation: 'getOpenPositions' };
  expect(followers).toMatchObject([{ error }, { error }]);
});

test('an unexpected error of a poll delays the feed and is reported', async () => {
  const failures: unknown[] = [];
  onTestFinished(onBackgroundFailure(({ error }) => void failures.push(error)));
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  const follower = followChanges(viewer('phone'));
  await clock.advance(2_000);
  const getOpenPositions = gateway.getOpenPositions;
  gateway.getOpenPositions = () => {
    throw new TypeError('broken');
  };
  await clock.advance(2_000);
  expect(follower.last?.status).toBe('DELAYED');
  expect(failures[0]).toBeInstanceOf(TypeError);
  gateway.getOpenPositions = getOpenPositions;
  await clock.advance(10_000);
  expect(follower.last?.status).toBe('LIVE');
});
