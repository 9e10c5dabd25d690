import { expect, test } from 'vitest';
import type { SessionAnswer } from '../../../src/gateway/operations/get-session.ts';
import { LOGIN as LOGIN_OF } from '../../../src/lib/account.ts';
import { loginNamed } from '../../support/accounts.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { answerOf, position } from './scripted-gateway.ts';

test('polling stops with the last subscriber, and the feed is closed ten seconds later', async () => {
  const { clock, gateway, viewer, followChanges, feeds } = createLiveBench();
  const phone = followChanges(viewer('phone'), { intervalMs: 5_000 });
  const tablet = followChanges(viewer('tablet', { expiresAtMs: clock.date() + 1e9 }));
  await clock.advance(1_000);
  gateway.set(LOGIN, [position('a')]);
  await clock.advance(2_000);
  expect(feeds.running).toMatchObject([{ tokens: { subscriptionCount: 2 } }]);
  await phone.leave();
  await clock.advance(3_000);
  expect(gateway.polls.length).toBeGreaterThanOrEqual(6);
  const pollsBefore = gateway.polls.length;
  await tablet.leave();
  expect(feeds.running).toEqual([]);
  // The one timer left closes the feed. No poll is planned, because a planned poll slows the polls of other feeds.
  expect(clock.pending).toBe(1);
  expect(feeds.shown(viewer('phone'))?.rows).toHaveLength(1);
  await clock.advance(10_000);
  expect(feeds.shown(viewer('phone'))).toBeNull();
  expect(gateway.polls.length).toBe(pollsBefore);
  expect(feeds.running).toEqual([]);
  expect(clock.pending).toBe(0);
});

test('an account can neither open the feed of another account, nor see or delay its list', async () => {
  const { clock, gateway, viewer, followPositions, feeds, prove } = createLiveBench();
  const proof = prove(viewer('attacker', { login: '1' }));
  const victim = viewer('forged', { login: '2' });
  expect(() => feeds.watch(proof, victim)).toThrow('another account');
  gateway.set('1', [position('one')]);
  gateway.set('2', [position('two')]);
  followPositions(viewer('a', { login: '1' }));
  const quick = followPositions(viewer('b', { login: '2' }));
  // Calls for the first account hang.
  const getOpenPositions = gateway.getOpenPositions.bind(gateway);
  gateway.getOpenPositions = (caller, previous) =>
    caller[LOGIN_OF] === loginNamed('1')
      ? new Promise(() => {})
      : getOpenPositions(caller, previous);
  await clock.advance(500);
  gateway.set('2', [position('three')]);
  await clock.advance(2_000);
  const lists = quick.events.map(({ upserted }) => upserted);
  expect(lists).toEqual([[position('two')], [position('three')]]);
});

test.each([
  [999, 1],
  [1_000, 2],
])(
  'a new feed starts with a query’s list only if it is younger than an interval: %i ms old, %i calls in total',
  async (ageMs, calls) => {
    const random = () => 0.9;
    const bench = createLiveBench({ random });
    const { clock, gateway, newestPositions, viewer, prove, feeds, followPositions } = bench;
    const phone = viewer('phone');
    prove(phone);
    gateway.set(LOGIN, [position('a')]);
    const list = await gateway.getOpenPositions(phone, null);
    newestPositions.offer(phone, list);
    await clock.advance(ageMs);
    // From now on no call is answered.
    gateway.latencyMs = 60_000;
    const { events } = followPositions(phone);
    // A second subscription does not change the time of the poll.
    followPositions(viewer('tablet'));
    await clock.advance(0);
    expect(gateway.polls).toHaveLength(calls);
    const lists = events.map(({ upserted }) => upserted);
    // The query made the first call. A second call means that the feed did not use its list.
    const isUsed = calls === 1;
    expect(lists).toEqual(isUsed ? [list.rows] : []);
    expect(feeds.current(phone)).toBe(isUsed ? list : null);
    await clock.advance(1);
    expect(feeds.current(phone)).toBeNull();
    await clock.advance(1_000);
    expect(gateway.polls).toHaveLength(2);
  },
);

test('neither queries nor the feed of an account serve a list older than a list that either has served', async () => {
  const { clock, gateway, viewer, followPositions, feeds } = createLiveBench();
  gateway.set(LOGIN, [position('shown')]);
  const [phone, forged] = [viewer('phone'), viewer('forged')];
  const follower = followPositions(phone);
  await clock.advance(0);
  const listOf = (id: string, logicalTime: number) =>
    answerOf([position(id)], { logicalTime, atMs: clock.now() });
  let answer = listOf('older', 0);
  gateway.getOpenPositions = async () => answer;
  const read = await feeds.read(phone, { after: 1 });
  expect(read.rows).toEqual([position('shown')]);
  const own = [position('own')];
  const session = { positions: { ids: ['own'], rows: own } };
  const snapshot = { logicalTime: 0, session } as unknown as SessionAnswer;
  expect(feeds.newest(phone, snapshot)).toBe(read.rows);
  expect(feeds.newest(forged, snapshot)).toBe(own);
  // The feed shows the query's newer list. The feed ignores older lists, and lists of a token without proof.
  answer = listOf('newer', 1_000);
  await feeds.read(phone, { after: 1 });
  answer = listOf('older', 999);
  await feeds.read(phone, { after: 1 });
  answer = listOf('poison', 2_000);
  await feeds.read(forged, { after: 1 });
  await clock.advance(0);
  const lists = follower.events.map(({ upserted }) => upserted);
  expect(lists).toEqual([[position('shown')], [position('newer')]]);
});

test('closing ends every subscription without an error and leaves no timer', async () => {
  const { clock, gateway, viewer, followChanges, followPositions, followAccount, feeds } =
    createLiveBench();
  gateway.set(LOGIN, [position('a')]);
  // The snapshot arrives before the first list, and waits for it.
  gateway.latencyMs = 500;
  const watch = followAccount(viewer('watch'));
  const followers = [followChanges(viewer('phone')), followPositions(viewer('tablet')), watch];
  await clock.advance(2_700);
  expect(watch.events).toHaveLength(1);
  // This subscription leaves a feed without subscribers.
  await followChanges(viewer('gone', { login: '2002' })).leave();
  feeds.close();
  expect(feeds.shown(viewer('watch'))).toBeNull();
  expect(feeds.running).toEqual([]);
  await clock.advance(1_000);
  const late = followChanges(viewer('late'));
  await clock.advance(60_000);
  for (const follower of followers) {
    expect(follower).toMatchObject({ hasEnded: true, error: null });
  }
  expect(late.hasEnded).toBe(true);
  expect(clock.pending).toBe(0);
});
