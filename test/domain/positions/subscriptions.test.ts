import { expect, test } from 'vitest';
import { iterated } from '../../support/iterated.ts';
import { atMost } from '../../support/steps.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { position } from './scripted-gateway.ts';

test('a snapshot is emitted first, then deltas', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  gateway.set(LOGIN, [position('a', { profit: 2, invested: 5 }), position('b')]);
  const [follower, other] = ['phone', 'tablet'].map((name) => followChanges(viewer(name)));
  await clock.advance(0);
  expect(other?.events[0]).toBe(follower?.events[0]);
  expect(follower?.events).toEqual([
    {
      cursor: expect.any(String),
      snapshot: true,
      upserted: [position('a', { profit: 2, invested: 5 }), position('b')],
      ticks: [],
      opened: [],
      closed: [],
      totals: { count: 2, invested: 15, profit: 2 },
      status: 'LIVE',
      asOf: new Date(clock.now()),
    },
  ]);
  gateway.set(LOGIN, [position('c'), position('b', { profit: 1 })]);
  await clock.advance(1_500);
  expect(follower?.last).toMatchObject({
    snapshot: false,
    upserted: [position('c'), position('b', { profit: 1 })],
    opened: ['c'],
    closed: ['a'],
    totals: { count: 2, invested: 20, profit: 1 },
  });
});

test('the list is emitted again when its order alone changes; the changes are not', async () => {
  const polls: string[] = [];
  const { clock, gateway, viewer, followChanges, followPositions } = createLiveBench({
    onPoll: ({ kind }) => void polls.push(kind),
  });
  gateway.set(LOGIN, [position('a'), position('b')]);
  const [changes, lists] = [followChanges(viewer('phone')), followPositions(viewer('phone'))];
  await clock.advance(1_000);
  gateway.set(LOGIN, [position('b'), position('a')]);
  await clock.advance(3_000);
  expect(lists.events.map((list) => list.map(({ id }) => id).join(''))).toEqual(['ab', 'ba']);
  expect(changes.events).toHaveLength(1);
  expect(polls).toEqual(['changed', 'unchanged', 'changed', 'unchanged', 'unchanged']);
});

test.each([
  ['intervalMs', 1, 15_000],
  ['heartbeatSeconds', 15, 60],
])('%s is at least %i and at most %i', (argument, least, most) => {
  const { viewer, hub, prove } = createLiveBench();
  const phone = viewer('phone');
  const watch = (value: number) => () =>
    hub.watchChanges(prove(phone), phone, { [argument]: value });
  for (const value of [least, most]) expect(watch(value)).not.toThrow();
  for (const value of [least - 1, most + 1]) {
    expect(watch(value)).toThrow(`${argument} must be between ${least} and ${most}.`);
  }
});

test.each([undefined, 15_000])(
  'an event comes at least every 15 s in a quiet market (interval %s)',
  async (intervalMs) => {
    const { clock, viewer, hub, prove } = createLiveBench();
    const phone = viewer('phone');
    const emitted: { readonly atMs: number; readonly asOfMs: number }[] = [];
    void (async () => {
      const stream = hub.watchChanges(prove(phone), phone, { intervalMs });
      for await (const { asOf } of atMost(100, iterated(stream))) {
        emitted.push({ atMs: clock.now(), asOfMs: asOf.getTime() });
      }
    })();
    await clock.advance(100_000);
    expect(emitted).toHaveLength(7);
    emitted.slice(1).forEach(({ atMs, asOfMs }, index) => {
      expect(atMs - (emitted[index]?.atMs ?? 0)).toBeLessThanOrEqual(15_000);
      // Each poll confirms the list, although it stays the same.
      expect(asOfMs).toBeGreaterThan(emitted[index]?.asOfMs ?? 0);
    });
  },
);

test('a reader that stops reading for a minute gets one merged update', async () => {
  const { clock, gateway, viewer, hub, prove } = createLiveBench();
  const phone = viewer('phone');
  gateway.set(LOGIN, [position('a'), position('b')]);
  const stream = hub.watchChanges(prove(phone), phone);
  const changes = iterated(stream);
  const lists = iterated(hub.watchPositions(prove(phone), phone));
  const first = [changes.next(), lists.next()];
  await clock.advance(100);
  await Promise.all(first);
  const steps = [
    [position('a'), position('b'), position('brief')],
    [position('a')],
    [position('a', { profit: 1 })],
    [position('b', { profit: 7 })],
    [position('b', { profit: 8 }), position('new')],
  ];
  for (const step of steps) {
    gateway.set(LOGIN, step);
    await clock.advance(12_000);
  }
  expect((await changes.next()).value).toMatchObject({
    snapshot: false,
    upserted: [position('b', { profit: 8 }), position('new')],
    opened: ['new'],
    closed: ['a'],
  });
  expect((await lists.next()).value).toEqual(steps.at(-1));
  const waiting = changes.next();
  await clock.advance(2_000);
  stream.leave();
  expect((await waiting).done).toBe(true);
});

test('a cursor resumes without a gap after a pause shorter than the linger, but for more closings than are kept', async () => {
  const { clock, gateway, viewer, followChanges, hub } = createLiveBench();
  const many = Array.from({ length: 300 }, (_, at) => position(`${at}`));
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
  expect(hub.feeds).toMatchObject({ polled: 1, subscriptions: 2 });
});
