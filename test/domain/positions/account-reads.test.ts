import { describe, expect, test } from 'vitest';
import type { FeedOptions } from '../../../src/domain/positions/feed-options.ts';
import type { Position } from '../../../src/gateway/model.ts';
import { accountNamed } from '../../support/accounts.ts';
import { type AccountEvent, createLiveBench, LOGIN } from './live-bench.ts';
import { gatewayError, inSnapshot, order, position } from './scripted-gateway.ts';

const MAX_AGE_MS = 60_000;

/** An account with a position and an order, followed by one phone, after its first event. */
async function followed(options: Parameters<typeof createLiveBench>[0] = {}) {
  const bench = createLiveBench(options);
  const { clock, gateway, viewer, followAccount } = bench;
  gateway.set(LOGIN, [position('a')]);
  gateway.setAccount(LOGIN, { orders: [order('o')], balance: 100 });
  const phone = followAccount(viewer('phone'));
  await clock.advance(0);
  return { ...bench, phone };
}

/** The market reaches the price of the order. */
function trigger({ gateway }: Pick<Awaited<ReturnType<typeof followed>>, 'gateway'>): void {
  gateway.set(LOGIN, [position('a'), position('o')]);
  gateway.setAccount(LOGIN, { orders: [], balance: 90 });
}

test('a first subscriber waits for a read until the deadline, and not at all for one that fails', async () => {
  const { clock, gateway, viewer, followAccount } = createLiveBench({ firstListMs: 5_000 });
  gateway.sessionLatencyMs = 100_000;
  const phone = followAccount(viewer('phone'));
  await clock.advance(4_999);
  expect(phone.events).toEqual([]);
  await clock.advance(1);
  expect(phone.events).toMatchObject([{ snapshot: true, orders: null }]);
  gateway.set(LOGIN, [position('a')]);
  await clock.advance(1_000);
  expect(phone.last?.positions.opened).toEqual(['a']);
  const failing = createLiveBench();
  failing.gateway.sessionFault = () => gatewayError('unavailable');
  const tablet = failing.followAccount(failing.viewer('tablet'));
  await failing.clock.advance(0);
  expect(tablet.events).toMatchObject([{ snapshot: true, orders: null }]);
});

test('a read that waits for the ceiling of polls is not made when nobody follows the account any more', async () => {
  const { clock, gateway, viewer, followChanges, hub, phone } = await followed({
    pollsPerSecond: 1,
  });
  followChanges(viewer('tablet'));
  await clock.advance(5_000);
  const before = gateway.sessions.length;
  hub.accountChanged(accountNamed(LOGIN));
  await phone.leave();
  await clock.advance(5_000);
  expect(gateway.sessions.length).toBe(before);
});

describe('an order that is triggered', () => {
  /** The order's place after each event: among the orders, the positions, both or neither. */
  function places(events: readonly AccountEvent[], id: string): string[] {
    const [orders, positions] = [new Set<string>(), new Set<string>()];
    return events.map((event) => {
      for (const [list, delta] of [
        [orders, event.orders],
        [positions, event.positions],
      ] as const) {
        if (event.snapshot) list.clear();
        for (const closed of delta?.closed ?? []) list.delete(closed);
        for (const row of delta?.upserted ?? []) list.add(row.id);
      }
      const found = [orders.has(id) && 'order', positions.has(id) && 'position'];
      return found.filter(Boolean).join(' and ') || 'nowhere';
    });
  }

  test.each([
    ['with its position', true],
    ['without a list of positions', false],
  ])(
    'and that a snapshot tells of %s, 1.5 s before the list, is always somewhere',
    async (_what, hasList) => {
      const { clock, gateway, phone, hub } = await followed();
      gateway.sessionLie = (session) => ({
        ...session,
        positions: hasList ? inSnapshot([position('a'), position('o')]) : null,
      });
      gateway.setAccount(LOGIN, { orders: [], balance: 90 });
      hub.accountChanged(accountNamed(LOGIN));
      await clock.advance(1_500);
      expect(phone.last?.orders?.closed).toEqual([]);
      gateway.set(LOGIN, [position('a'), position('o')]);
      await clock.advance(2_000);
      expect(places(phone.events, 'o')).not.toContain('nowhere');
      expect(places(phone.events, 'o').at(-1)).toBe('position');
      expect(phone.last).toMatchObject({ session: { session: { balance: 90 } } });
    },
  );

  test('or cancelled, is believed to be gone when no list of two intervals has it', async () => {
    const { clock, gateway, phone, hub } = await followed();
    gateway.sessionLie = (session) => ({ ...session, positions: null });
    gateway.setAccount(LOGIN, { orders: [], balance: 90 });
    hub.accountChanged(accountNamed(LOGIN));
    await clock.advance(900);
    expect(places(phone.events, 'o').at(-1)).toBe('order');
    const polls = gateway.polls.length;
    await clock.advance(1_500);
    expect(places(phone.events, 'o').at(-1)).toBe('nowhere');
    expect(gateway.polls.length - polls).toBeLessThanOrEqual(2);
    expect(phone.hasEnded).toBe(false);
  });
});

test('a change of the members is shown after one interval at the latest; a slower read corrects it', async () => {
  const bench = await followed();
  const { clock, gateway, phone } = bench;
  const readAt = phone.last?.orders?.fetchedAt;
  gateway.sessionLatencyMs = 4_500;
  trigger(bench);
  await clock.advance(3_000);
  expect(phone.events).toHaveLength(2);
  expect(phone.last).toMatchObject({
    positions: { opened: ['o'] },
    orders: { upserted: [], closed: [], fetchedAt: readAt },
  });
  // The events that follow are shown at once.
  gateway.set(LOGIN, [position('a', { profit: 1 }), position('o')]);
  await clock.advance(1_000);
  expect(phone.events).toHaveLength(3);
  await clock.advance(3_000);
  expect(phone.last).toMatchObject({
    orders: { closed: ['o'] },
    session: { session: { balance: 90 } },
  });
  expect(gateway.sessions).toHaveLength(2);
});

test.each<Partial<Position>>([{ units: 0.5 }, { side: 'SELL' }])(
  'a position that becomes %o has the account read; one that is closed leaves with the figures without it',
  async (change) => {
    const { clock, gateway, hub, phone } = await followed();
    gateway.set(LOGIN, [position('a', change)]);
    gateway.setAccount(LOGIN, { orders: [order('o')], balance: 90 });
    await clock.advance(3_000);
    expect(phone.last).toMatchObject({ session: { session: { balance: 90 } } });
    gateway.latencyMs = 500;
    gateway.set(LOGIN, []);
    gateway.setAccount(LOGIN, { orders: [order('o')], balance: 80 });
    hub.accountChanged(accountNamed(LOGIN));
    await clock.advance(5_000);
    const left = phone.events.findIndex(({ positions }) => positions.closed.includes('a'));
    const told = phone.events.findIndex(({ session }) => session?.session.balance === 80);
    expect([left, told]).toEqual([left, left]);
  },
);

describe('op 10 that', () => {
  test('disagrees with op 12 is asked less and less often, and is believed about what it says alone', async () => {
    const { clock, gateway, phone } = await followed();
    gateway.sessionLie = (session) => ({
      ...session,
      positions: inSnapshot([position('a'), position('z')]),
    });
    gateway.setAccount(LOGIN, { orders: [], balance: 80 });
    gateway.set(LOGIN, [position('a'), position('b')]);
    await clock.advance(3_000);
    expect(phone.events.flatMap(({ positions }) => positions.opened)).toEqual(['b']);
    expect(phone.last).toMatchObject({ session: { session: { balance: 80 } } });
    await clock.advance(MAX_AGE_MS);
    const readAt = gateway.sessions.slice(1).map(({ atMs }) => atMs);
    // The wait doubles; two lists have to lack what each snapshot says before it is believed.
    expect(readAt.slice(1).map((atMs, at) => atMs - (readAt[at] as number))).toEqual([
      3_000, 4_000, 6_000, 10_000, 18_000,
    ]);
    const before = gateway.sessions.length;
    await clock.advance(10 * MAX_AGE_MS);
    expect(gateway.sessions.length - before).toBeLessThanOrEqual(11);
  });

  test('goes on while op 12 fails: the positions stand still, the figures follow', async () => {
    const { clock, gateway, phone } = await followed();
    gateway.failWith('unavailable');
    gateway.setAccount(LOGIN, { orders: [order('o'), order('p')], balance: 70 });
    await clock.advance(2 * MAX_AGE_MS);
    expect(phone.last).toMatchObject({ status: 'DELAYED', session: { session: { balance: 70 } } });
    expect(phone.events.flatMap(({ orders }) => orders?.upserted ?? [])).toContainEqual(order('p'));
  });
});

test('an order of one’s own behind which another follows is read once more when the first read is over', async () => {
  const { clock, gateway, hub } = await followed();
  gateway.latencyMs = 50;
  gateway.sessionLatencyMs = 500;
  hub.accountChanged(accountNamed(LOGIN));
  await clock.advance(100);
  hub.accountChanged(accountNamed(LOGIN));
  await clock.advance(399);
  expect(gateway.sessions).toHaveLength(2);
  await clock.advance(1);
  expect(gateway.sessions).toHaveLength(3);
});

test('a snapshot that nothing contradicts is read again at its full age, after a pause that op 10 asks for', async () => {
  const { clock, gateway, hub, viewer, prove } = await followed();
  const phone = viewer('phone');
  prove(phone);
  /** The reads once a list is shown so much later, as a query is served one. */
  const readsAfter = async (ms: number) => {
    await clock.advance(ms);
    hub.served(phone, await gateway.getOpenPositions(phone, null));
    await clock.advance(0);
    return gateway.sessions.length;
  };
  gateway.sessionFault = () => gatewayError('rate-limited', 30);
  expect(await readsAfter(MAX_AGE_MS - 1)).toBe(1);
  expect(await readsAfter(1)).toBe(2);
  expect(await readsAfter(29_999)).toBe(2);
  expect(await readsAfter(1)).toBe(3);
});

test('an interval has one event at most, and none for a position that opened and closed in it', async () => {
  const { clock, gateway, viewer, followAccount } = await followed();
  const slow = followAccount(viewer('tablet'), { intervalMs: 10_000 });
  await clock.advance(1_000);
  gateway.set(LOGIN, [position('a'), position('brief')]);
  await clock.advance(4_000);
  gateway.set(LOGIN, [position('a')]);
  await clock.advance(8_000);
  expect(slow.events).toHaveLength(1);
  for (let second = 0; second < 20; second += 1) {
    gateway.set(LOGIN, [position('a', { profit: second })]);
    await clock.advance(1_000);
  }
  expect(slow.events).toHaveLength(3);
});

test('a client that resumes from before the last read has it read an interval later, once for all', async () => {
  const bench = await followed();
  const { clock, gateway, hub, viewer, followAccount, phone } = bench;
  const after = phone.last?.cursor ?? '';
  trigger(bench);
  hub.accountChanged(accountNamed(LOGIN));
  await clock.advance(1_000);
  expect(gateway.sessions.map(({ atMs }) => clock.now() - atMs)).toEqual([1_000, 1_000]);
  const late = ['b', 'c', 'd'].map((name) => followAccount(viewer(name), { after }));
  await clock.advance(500);
  for (const { events } of late) {
    expect(events[0]).toMatchObject({
      snapshot: false,
      positions: { opened: ['o'] },
      orders: { closed: ['o'] },
    });
  }
  expect(gateway.sessions).toHaveLength(3);
  followAccount(viewer('e'), { after: late[0]?.last?.cursor ?? '' });
  await clock.advance(2_000);
  expect(gateway.sessions).toHaveLength(3);
});

test('tokens without proof get nothing new of the account', async () => {
  const bench = await followed();
  const { clock, gateway, viewer, followAccount, ledger } = bench;
  const lapsed = viewer('lapsed');
  const tablet = followAccount(lapsed);
  await clock.advance(0);
  const before = tablet.last;
  gateway.fault = gateway.sessionFault = ({ token }) =>
    token.text === 'token of lapsed' ? gatewayError('unavailable') : null;
  ledger.refused(lapsed);
  trigger(bench);
  await clock.advance(40_000);
  expect(tablet.events.length).toBeGreaterThan(1);
  for (const event of tablet.events.slice(1)) {
    expect(event).toMatchObject({
      status: 'DELAYED',
      positions: { upserted: [], opened: [], closed: [] },
      orders: { upserted: [], closed: [], fetchedAt: before?.orders?.fetchedAt },
    });
    expect(event.session).toBe(before?.session);
  }
});

test.each<[string, Partial<FeedOptions>, number]>([
  ['a SESSION_POLL_MS while somebody follows the session', {}, 24],
  ['a POSITIONS_POLL_MS', { sessionPollMs: 100 }, 120],
  ['a SESSION_MAX_AGE_SECONDS that is shorter', { sessionMaxAgeMs: 3_000 }, 40],
])(
  'calls of op 10 are one %s, and else one a SESSION_MAX_AGE_SECONDS',
  async (_what, how, figures) => {
    const { clock, gateway, viewer, followAccount } = await followed(how);
    const phones = ['tablet', 'watch'].map((name) =>
      followAccount(viewer(name), { figures: true }),
    );
    await clock.advance(10_000);
    const readsOf = async (ms: number) => {
      const before = gateway.sessions.length;
      for (let second = 0; second < ms / 1_000; second += 1) {
        gateway.set(LOGIN, [position('a', { priceCurrent: second })]);
        await clock.advance(1_000);
      }
      return gateway.sessions.length - before;
    };
    expect(await readsOf(120_000)).toBe(figures);
    await Promise.all(phones.map((phone) => phone.leave()));
    const { sessionMaxAgeMs = MAX_AGE_MS } = how;
    expect(await readsOf(4 * MAX_AGE_MS)).toBe((4 * MAX_AGE_MS) / sessionMaxAgeMs);
    const before = gateway.sessions.length;
    gateway.set(LOGIN, [position('a'), position('b')]);
    await clock.advance(2_000);
    expect(gateway.sessions.length).toBe(before + 1);
  },
);

test('reads of the session count for the ceiling of polls, by which they and the polls come evenly less often', async () => {
  const { clock, gateway, viewer, followAccount } = await followed({ pollsPerSecond: 0.6 / 0.95 });
  followAccount(viewer('tablet'), { figures: true });
  await clock.advance(10_000);
  const before = [gateway.polls.length, gateway.sessions.length] as const;
  await clock.advance(600_000);
  expect(gateway.polls.length - before[0]).toBeGreaterThan(260);
  expect(gateway.polls.length - before[0]).toBeLessThanOrEqual(300);
  expect(gateway.sessions.length - before[1]).toBeGreaterThan(45);
  expect(gateway.sessions.length - before[1]).toBeLessThanOrEqual(60);
});
