import { expect, test } from 'vitest';
import { InputError } from '../../../src/domain/input-error.ts';
import { atMost } from '../../support/steps.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { position } from './scripted-gateway.ts';

test('a snapshot is emitted first, then deltas', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  gateway.set(LOGIN, [position('a', { profit: 2, invested: 5 }), position('b')]);
  const follower = followChanges(viewer('phone'));
  await clock.advance(0);
  expect(follower.events).toEqual([
    {
      cursor: expect.any(String),
      snapshot: true,
      upserted: [position('a', { profit: 2, invested: 5 }), position('b')],
      opened: [],
      closed: [],
      totals: { count: 2, invested: 15, profit: 2 },
      status: 'LIVE',
      asOf: new Date(clock.now()),
    },
  ]);
  gateway.set(LOGIN, [position('c'), position('b', { profit: 1 })]);
  await clock.advance(1_500);
  expect(follower.last).toMatchObject({
    snapshot: false,
    upserted: [position('c'), position('b', { profit: 1 })],
    opened: ['c'],
    closed: ['a'],
    totals: { count: 2, invested: 20, profit: 1 },
  });
});

test('a new subscriber of a running feed gets its list immediately and without a poll', async () => {
  const { clock, gateway, viewer, followChanges, followPositions } = createLiveBench();
  gateway.set(LOGIN, [position('a')]);
  followChanges(viewer('phone'));
  await clock.advance(10_000);
  const polls = gateway.polls.length;
  const [changes, lists] = [followChanges(viewer('tablet')), followPositions(viewer('tablet'))];
  await clock.advance(0);
  expect(gateway.polls.length).toBe(polls);
  expect(changes.events).toMatchObject([{ snapshot: true, upserted: [position('a')] }]);
  expect(lists.events).toEqual([[position('a')]]);
});

test('the list is emitted again when its order alone changes; the changes are not', async () => {
  const { clock, gateway, viewer, followChanges, followPositions } = createLiveBench();
  gateway.set(LOGIN, [position('a'), position('b')]);
  const [changes, lists] = [followChanges(viewer('phone')), followPositions(viewer('phone'))];
  await clock.advance(1_000);
  gateway.set(LOGIN, [position('b'), position('a')]);
  await clock.advance(2_000);
  expect(lists.events.map((list) => list.map(({ id }) => id).join(''))).toEqual(['ab', 'ba']);
  expect(changes.events).toHaveLength(1);
});

test('intervalMs merges the changes in between', async () => {
  const { clock, gateway, viewer, hub, prove } = createLiveBench();
  const phone = viewer('phone');
  const stream = hub.watchChanges(prove(phone), phone, { intervalMs: 5_000 });
  const emittedAtMs: number[] = [];
  const prices: unknown[] = [];
  void (async () => {
    for await (const { upserted } of atMost(100, stream)) {
      emittedAtMs.push(clock.now());
      prices.push(upserted[0]?.priceCurrent);
    }
  })();
  for (let second = 1; second <= 21; second += 1) {
    gateway.set(LOGIN, [position('a', { priceCurrent: second })]);
    await clock.advance(1_000);
  }
  expect(emittedAtMs).toHaveLength(5);
  emittedAtMs.slice(1).forEach((atMs, index) => {
    expect(atMs - (emittedAtMs[index] ?? 0)).toBeGreaterThanOrEqual(5_000);
  });
  expect(prices.at(-1)).toBeGreaterThanOrEqual(19);
});

test('a change after a quiet time is emitted immediately, whatever the interval', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  const follower = followChanges(viewer('phone'), { intervalMs: 8_000 });
  await clock.advance(10_000);
  gateway.set(LOGIN, [position('a')]);
  await clock.advance(1_000);
  expect(follower.events).toHaveLength(2);
});

for (const intervalMs of [0, -1, 0.5, 15_001, Number.NaN, Number.POSITIVE_INFINITY]) {
  test(`an interval of ${intervalMs} is refused`, () => {
    const { viewer, hub, prove } = createLiveBench();
    const phone = viewer('phone');
    const watch = () => hub.watchChanges(prove(phone), phone, { intervalMs });
    expect(watch).toThrow(InputError);
    expect(watch).toThrow(expect.objectContaining({ argument: 'intervalMs' }));
  });
}

for (const intervalMs of [undefined, 1, 1_000, 15_000]) {
  test(`an event comes at least every 15 s in a quiet market (interval ${intervalMs})`, async () => {
    const { clock, viewer, hub, prove } = createLiveBench();
    const phone = viewer('phone');
    const emittedAtMs: number[] = [];
    const asOf: number[] = [];
    void (async () => {
      const stream = hub.watchChanges(prove(phone), phone, { intervalMs });
      for await (const event of atMost(100, stream)) {
        emittedAtMs.push(clock.now());
        asOf.push(event.asOf.getTime());
      }
    })();
    await clock.advance(100_000);
    expect(emittedAtMs.length).toBeGreaterThanOrEqual(7);
    expect(emittedAtMs.length).toBeLessThanOrEqual(8);
    emittedAtMs.slice(1).forEach((atMs, index) => {
      expect(atMs - (emittedAtMs[index] ?? 0)).toBeLessThanOrEqual(15_000);
    });
    // Each poll confirms the list, although it stays the same.
    expect(asOf).toEqual([...new Set(asOf)]);
  });
}

test('a reader that stops reading for a minute gets one merged update', async () => {
  const { clock, gateway, viewer, hub, prove } = createLiveBench();
  const phone = viewer('phone');
  gateway.set(LOGIN, [position('a'), position('b')]);
  const changes = hub.watchChanges(prove(phone), phone);
  const lists = hub.watchPositions(prove(phone), phone);
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
  await changes.return();
  expect((await waiting).done).toBe(true);
});

test('a position that opened and closed unread is no event', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  const follower = followChanges(viewer('phone'), { intervalMs: 5_000 });
  await clock.advance(100);
  gateway.set(LOGIN, [position('brief')]);
  await clock.advance(2_000);
  gateway.set(LOGIN, []);
  await clock.advance(6_000);
  expect(follower.events).toHaveLength(1);
});

test('a cursor resumes without a gap after a pause shorter than the linger', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  gateway.set(LOGIN, [position('a'), position('b')]);
  const before = followChanges(viewer('phone'));
  await clock.advance(3_000);
  await before.leave();
  gateway.set(LOGIN, [position('b'), position('c')]);
  await clock.advance(5_000);
  const back = followChanges(viewer('phone'), { after: before.last?.cursor ?? null });
  await clock.advance(0);
  expect(back.events.map(({ snapshot }) => snapshot)).toEqual([false, false]);
  expect(back.last).toMatchObject({ upserted: [position('c')], opened: ['c'], closed: ['a'] });
});

test('a cursor of a closed feed, of another account, or a forged one, means a new snapshot', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  gateway.set(LOGIN, [position('a')]);
  const before = followChanges(viewer('phone'));
  const foreign = followChanges(viewer('stranger', { login: '2002' }));
  await clock.advance(2_000);
  const cursors = [foreign.last?.cursor ?? '', 'zz.AAAAAAAAAAAAAAAA', 'garbage', '', '\u0000'];
  for (const after of cursors) {
    const follower = followChanges(viewer('phone'), { after });
    await clock.advance(0);
    expect(follower.events, after).toMatchObject([{ snapshot: true, opened: [], closed: [] }]);
    await follower.leave();
  }
  await before.leave();
  await clock.advance(30_000);
  const back = followChanges(viewer('phone'), { after: before.last?.cursor ?? null });
  await clock.advance(0);
  expect(back.events).toMatchObject([{ snapshot: true, upserted: [position('a')] }]);
});

test('a cursor older than the history means a new snapshot', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  const stays = followChanges(viewer('phone'));
  const positions = Array.from({ length: 300 }, (_, index) => position(String(index)));
  gateway.set(LOGIN, positions);
  await clock.advance(3_000);
  const after = stays.last?.cursor ?? null;
  gateway.set(LOGIN, []);
  await clock.advance(2_000);
  const back = followChanges(viewer('tablet'), { after });
  await clock.advance(0);
  expect(back.last).toMatchObject({ snapshot: true, upserted: [], closed: [] });
});

test('thousands of subscribers that do not read buffer no lists', async () => {
  const { clock, gateway, viewer, hub, prove } = createLiveBench();
  const phone = viewer('phone');
  const streams = Array.from({ length: 2_000 }, () => hub.watchChanges(prove(phone), phone));
  const first = streams.map((stream) => stream.next());
  await clock.advance(100);
  await Promise.all(first);
  const move = async (round: number) => {
    const rows = Array.from({ length: 50 }, (_, id) => position(String(id), { profit: round }));
    gateway.set(LOGIN, rows);
    await clock.advance(1_000);
  };
  for (let round = 0; round < 5; round += 1) await move(round);
  const heapBefore = process.memoryUsage().heapUsed;
  for (let round = 5; round < 60; round += 1) await move(round);
  // 2,000 slots with one list each would hold 2,000 × 50 positions, some 50 MB.
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(40_000_000);
  const merged = await Promise.all(streams.map((stream) => stream.next()));
  expect(new Set(merged.map(({ value }) => value)).size).toBe(1);
});
