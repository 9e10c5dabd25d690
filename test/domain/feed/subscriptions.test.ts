import { expect, test } from 'vitest';
import { FeedState } from '../../../src/domain/feed/feed-state.ts';
import { checkTimes, Subscription } from '../../../src/domain/feed/subscription.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { atMost } from '../../support/steps.ts';
import { viewerOf } from '../viewer.ts';
import { Follower } from './follower.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { answerOf, position } from './scripted-gateway.ts';

test.each([
  ['intervalMs', 1, 15_000],
  ['heartbeatSeconds', 15, 60],
])('%s is at least %i and at most %i', (argument, least, most) => {
  const check = (value: number) => () => checkTimes({ [argument]: value });
  for (const value of [least, most]) expect(check(value)).not.toThrow();
  for (const value of [least - 1, most + 1]) {
    expect(check(value)).toThrow(`${argument} must be between ${least} and ${most}.`);
  }
});

test.each([undefined, 15_000])(
  'an event is emitted at least every 15 s in a quiet market (interval %s)',
  async (intervalMs) => {
    const { clock, viewer, watch } = createLiveBench();
    const phone = viewer('phone');
    const emitted: { readonly atMs: number; readonly asOfMs: number }[] = [];
    void (async () => {
      const stream = watch(phone, { intervalMs });
      for await (const { asOf } of atMost(100, stream)) {
        emitted.push({ atMs: clock.now(), asOfMs: asOf.getTime() });
      }
    })();
    await clock.advance(100_000);
    // A hundred seconds contain the first event and six quiet intervals of 15 seconds.
    expect(emitted).toHaveLength(7);
    emitted.slice(1).forEach(({ atMs, asOfMs }, index) => {
      expect(atMs - (emitted[index]?.atMs ?? 0)).toBeLessThanOrEqual(15_000);
      // Each poll confirms the unchanged list.
      expect(asOfMs).toBeGreaterThan(emitted[index]?.asOfMs ?? 0);
    });
  },
);

test.each([
  [undefined, 1_000],
  [3_000, 3_000],
])(
  'the changes of events that cannot be sent are repeated after a pause (interval %s: %i ms)',
  async (intervalMs, pauseMs) => {
    const { clock, viewer, watch } = createLiveBench();
    const stream = watch(viewer('phone'), { intervalMs });
    let emitted = 0;
    void (async () => {
      for await (const { snapshot } of atMost(100, stream)) {
        expect(snapshot).toBe(true);
        emitted += 1;
        stream.missed();
      }
    })();
    await clock.advance(0);
    await clock.advance(5 * pauseMs);
    expect(emitted).toBe(6);
  },
);

test('a cursor resumes a subscription soon after its end if the feed still knows all rows closed since then', async () => {
  const { clock, gateway, viewer, followChanges, feeds } = createLiveBench();
  // These are more positions than the feed remembers after they close.
  const many = Array.from({ length: 300 }, (_, index) => position(`${index}`));
  gateway.set(LOGIN, [...many, position('a'), position('b')]);
  const before = followChanges(viewer('phone'));
  await clock.advance(0);
  const first = before.last?.cursor ?? null;
  gateway.set(LOGIN, [position('a'), position('b')]);
  await clock.advance(3_000);
  await before.leave();
  gateway.set(LOGIN, [position('b'), position('c')]);
  await clock.advance(5_000);
  const back = followChanges(viewer('phone'), { after: before.last?.cursor ?? null });
  const late = followChanges(viewer('tablet'), { after: first });
  await clock.advance(0);
  expect(back.events.map(({ snapshot }) => snapshot)).toEqual([false, false]);
  expect(back.last).toMatchObject({ upserted: [position('c')], opened: ['c'], closed: ['a'] });
  expect(late.last).toMatchObject({ upserted: [position('c')], opened: ['c'], closed: ['a'] });
  expect(late.events[0]).toMatchObject({ snapshot: true, closed: [] });
  await clock.advance(10_000);
  expect(feeds.running).toMatchObject([{ tokens: { subscriptionCount: 2 } }]);
});

test('while its token has no proof a subscription emits only its last event, delayed: once if the feed is delayed, and as heartbeats', async () => {
  const clock = createScriptedClock();
  const state = new FeedState(clock);
  let isProved = true;
  const tokens = { maySend: () => isProved };
  const feed = { state, holdsFirstEvents: false, tokens, leave() {} };
  const { events } = new Subscription(clock, viewerOf('phone'), {}, () => feed);
  const follower = new Follower(events);
  const emitted = async (status: 'LIVE' | 'DELAYED', ids: readonly string[], ms = 0) => {
    const list = ids.map((id) => position(id));
    state.take(status, answerOf(list, { logicalTime: clock.now() + ids.length, atMs: 0 }));
    events.wake();
    await clock.advance(ms);
    return follower.events.map((event) => `${event.status} ${event.upserted.length}`);
  };
  expect(await emitted('LIVE', ['a'])).toEqual(['LIVE 1']);
  isProved = false;
  expect(await emitted('LIVE', ['a', 'b'])).toEqual(['LIVE 1']);
  const delayed = ['LIVE 1', 'DELAYED 0'];
  expect(await emitted('DELAYED', ['a', 'b'])).toEqual(delayed);
  expect(await emitted('DELAYED', ['a', 'b', 'c'])).toEqual(delayed);
  expect(await emitted('LIVE', ['a', 'b', 'c'])).toEqual(delayed);
  expect(await emitted('LIVE', ['a'], 15_000)).toEqual([...delayed, 'DELAYED 0']);
  await follower.leave();
});
