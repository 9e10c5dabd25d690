import { expect, test } from 'vitest';
import { stepUntil } from '../../support/steps.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { answerOf, position } from './scripted-gateway.ts';

test('a feed polls at a random phase', async () => {
  const offsets = new Set<number>();
  for (let seed = 1; seed <= 10; seed += 1) {
    const { clock, gateway, viewer, followChanges } = createLiveBench({ seed });
    followChanges(viewer('phone'));
    await clock.advance(3_000);
    const [first, second, third] = gateway.polls.map(({ atMs }) => atMs) as [
      number,
      number,
      number,
    ];
    expect(third - second).toBeCloseTo(1_000);
    offsets.add(Math.round((second - first) / 100));
  }
  expect(offsets.size).toBeGreaterThan(4);
});

test('polling stops with the last subscriber, and the feed is closed after the linger', async () => {
  const { clock, gateway, viewer, followChanges, hub } = createLiveBench({ lingerMs: 5_000 });
  const phone = followChanges(viewer('phone'));
  const tablet = followChanges(viewer('tablet'));
  await clock.advance(3_000);
  await phone.leave();
  await clock.advance(3_000);
  expect(gateway.polls.length).toBeGreaterThanOrEqual(6);
  const polled = gateway.polls.length;
  await tablet.leave();
  expect(hub.stats()).toMatchObject({ feeds: 0, lingering: 1 });
  await clock.advance(5_000);
  expect(gateway.polls.length).toBe(polled);
  expect(hub.stats()).toMatchObject({ feeds: 0, lingering: 0 });
  expect(clock.pending).toBe(0);
});

test('a subscription that is never pulled starts nothing', async () => {
  const { clock, gateway, viewer, hub, prove } = createLiveBench();
  const phone = viewer('phone');
  hub.watchChanges(prove(phone), phone);
  await clock.advance(5_000);
  expect(gateway.polls).toEqual([]);
  expect(hub.stats().feeds).toBe(0);
});

test('a proof of one account never opens the feed of another', () => {
  const { viewer, hub, prove } = createLiveBench();
  const thief = viewer('thief', { login: '6666' });
  const victim = viewer('forged', { login: LOGIN });
  expect(() => hub.watchChanges(prove(thief), victim)).toThrow('another account');
});

test('accounts do not share lists, nor does a slow one delay the others', async () => {
  const { clock, gateway, viewer, followPositions } = createLiveBench();
  gateway.set('1', [position('one')]);
  gateway.set('2', [position('two')]);
  followPositions(viewer('a', { login: '1' }));
  const quick = followPositions(viewer('b', { login: '2' }));
  const getOpenPositions = gateway.getOpenPositions.bind(gateway);
  gateway.getOpenPositions = (asking, previous) =>
    asking.login === '1' ? new Promise(() => {}) : getOpenPositions(asking, previous);
  await clock.advance(500);
  gateway.set('2', [position('three')]);
  await clock.advance(2_000);
  expect(quick.events).toEqual([[position('two')], [position('three')]]);
});

test('a list that a query has just read is shown at once; each poll counts as a change or as none', async () => {
  const { clock, gateway, viewer, board, prove, hub, followChanges } = createLiveBench();
  const phone = viewer('phone');
  const proof = prove(phone);
  gateway.set(LOGIN, [position('a')]);
  board.offer({ proof, tokenHash: phone.tokenHash }, await gateway.getOpenPositions(phone, null));
  const { events } = followChanges(phone);
  await clock.advance(0);
  expect(events).toMatchObject([{ snapshot: true, upserted: [position('a')], status: 'LIVE' }]);
  expect(gateway.polls).toHaveLength(1);
  await clock.advance(3_000);
  gateway.set(LOGIN, [position('b')]);
  await clock.advance(1_000);
  expect(hub.stats().polls).toMatchObject({ changed: 1, unchanged: gateway.polls.length - 2 });
});

test('the live list answers no query once it is as old as the interval', async () => {
  const { clock, gateway, viewer, followChanges, hub, prove } = createLiveBench();
  const proof = prove(viewer('phone'));
  followChanges(viewer('phone'));
  await clock.advance(0);
  gateway.latencyMs = 60_000;
  await clock.advance(999);
  expect(hub.current(proof)).not.toBeNull();
  await clock.advance(1);
  expect(hub.current(proof)).toBeNull();
});

test('a gateway that takes three intervals: times count from the call, what answers a query from its receipt', async () => {
  const { clock, gateway, viewer, followAccount, hub, prove } = createLiveBench();
  const proof = prove(viewer('phone'));
  gateway.latencyMs = 3_000;
  gateway.sessionLatencyMs = 3_000;
  const sentAt = new Date(clock.now());
  const follower = followAccount(viewer('phone'));
  await clock.advance(3_000);
  expect(follower.last).toMatchObject({ asOf: sentAt, orders: { fetchedAt: sentAt } });
  expect(hub.stats().oldestSeconds).toBe(3);
  await clock.advance(500);
  expect(hub.current(proof)).not.toBeNull();
});

test('an accepted order causes a poll immediately, also while one is in flight', async () => {
  const { clock, gateway, viewer, followPositions, hub } = createLiveBench();
  const follower = followPositions(viewer('phone'));
  await clock.advance(100);
  gateway.set(LOGIN, [position('new')]);
  hub.accountChanged(LOGIN);
  await clock.advance(0);
  expect(follower.last).toEqual([position('new')]);
  gateway.latencyMs = 200;
  hub.accountChanged(LOGIN);
  await clock.advance(100);
  gateway.set(LOGIN, [position('newer')]);
  hub.accountChanged(LOGIN);
  hub.accountChanged(LOGIN);
  await clock.advance(300);
  expect(follower.last).toEqual([position('newer')]);
  expect(gateway.polls).toHaveLength(4);
  hub.accountChanged('nobody');
});

test('a poll that was overtaken by a later call does not bring the older list back', async () => {
  const { clock, gateway, viewer, followPositions, board, prove } = createLiveBench();
  const phone = viewer('phone');
  const follower = followPositions(phone);
  await clock.advance(2_000);
  gateway.set(LOGIN, [position('old')]);
  gateway.latencyMs = 500;
  const polled = gateway.polls.length;
  await stepUntil(
    () => gateway.polls.length > polled,
    () => clock.advance(50),
    20,
  );
  const positions = [position('new')];
  board.offer(
    { proof: prove(phone), tokenHash: phone.tokenHash },
    answerOf(positions, { sequence: gateway.nextSequence(), atMs: clock.now() }),
  );
  await clock.advance(0);
  expect(follower.last).toEqual(positions);
  await clock.advance(600);
  expect(follower.events).toEqual([[], positions]);
});

test('closing ends every subscription without an error and leaves no timer', async () => {
  const { clock, viewer, followChanges, followPositions, hub } = createLiveBench();
  const ends: unknown[] = [];
  const followers = [
    followChanges(viewer('phone'), { onEnd: (error) => ends.push(error) }),
    followPositions(viewer('tablet'), { onEnd: (error) => ends.push(error) }),
  ];
  await clock.advance(2_000);
  hub.close();
  await clock.advance(0);
  expect(followers.map(({ hasEnded, error }) => [hasEnded, error])).toEqual([
    [true, null],
    [true, null],
  ]);
  expect(ends).toEqual([null, null]);
  expect(hub.stats()).toMatchObject({ feeds: 0, lingering: 0 });
  const late = followChanges(viewer('late'));
  await clock.advance(60_000);
  expect(late.hasEnded).toBe(true);
  expect(clock.pending).toBe(0);
});
