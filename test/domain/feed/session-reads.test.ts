import { expect, test } from 'vitest';
import type { OpenPositionsOptions } from '../../../src/domain/feed/open-positions.ts';
import { inSnapshot } from '../../../src/gateway/operations/holdings.ts';
import { accountNamed } from '../../support/accounts.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { gatewayError, order, position } from './scripted-gateway.ts';

// Op 10 is the snapshot of a session, with its orders. Op 12 is the list of positions, which a feed polls.
const MAX_AGE_MS = 60_000;

/** Sets up a phone that follows an account with a position and an order, and has received its first event. */
async function followAsPhone(options: Parameters<typeof createLiveBench>[0] = {}) {
  const bench = createLiveBench(options);
  const { clock, gateway, viewer, followAccount } = bench;
  gateway.set(LOGIN, [position('a')]);
  gateway.setAccount(LOGIN, { orders: [order('o')], balance: 100 });
  const phone = followAccount(viewer('phone'));
  await clock.advance(0);
  return { ...bench, phone };
}

/** The market reaches the order's price: the order becomes a position. */
function executeOrder({ gateway }: Pick<Awaited<ReturnType<typeof followAsPhone>>, 'gateway'>) {
  gateway.set(LOGIN, [position('a'), position('o')]);
  gateway.setAccount(LOGIN, { orders: [], balance: 90 });
}

test('a first subscriber waits for the snapshot until a deadline, or until its read fails', async () => {
  const { clock, gateway, viewer, followAccount } = createLiveBench({ firstListMs: 5_000 });
  gateway.sessionLatencyMs = 100_000;
  const phone = followAccount(viewer('phone'));
  await clock.advance(4_999);
  expect(phone.events).toEqual([]);
  await clock.advance(1);
  expect(phone.events).toMatchObject([{ snapshot: true, orders: null }]);
  gateway.set(LOGIN, [position('a')]);
  await clock.advance(1_000);
  expect(phone.last?.opened).toEqual(['a']);
  // In the second case the read fails at once.
  const failing = createLiveBench();
  failing.gateway.sessionFault = () => gatewayError('unavailable');
  const tablet = failing.followAccount(failing.viewer('tablet'));
  await failing.clock.advance(0);
  expect(tablet.events).toMatchObject([{ snapshot: true, orders: null }]);
});

test('a read of op 10 that waits for the ceiling of polls is dropped when its last subscriber leaves', async () => {
  const { changed, clock, gateway, viewer, followChanges, phone } = await followAsPhone({
    pollsPerSecond: 1,
  });
  followChanges(viewer('tablet'));
  await clock.advance(5_000);
  const before = gateway.sessions.length;
  changed(accountNamed(LOGIN));
  // The tablet follows only positions, so op 10 has no subscriber left.
  await phone.leave();
  await clock.advance(5_000);
  expect(gateway.sessions.length).toBe(before);
});

test('if the positions of op 10 always differ from op 12’s, op 10 is read once per five polls', async () => {
  const { clock, gateway, phone } = await followAsPhone();
  gateway.changeSession = (session) => ({
    ...session,
    positions: inSnapshot([position('a'), position('z')]),
  });
  gateway.setAccount(LOGIN, { orders: [], balance: 80 });
  gateway.set(LOGIN, [position('a'), position('b')]);
  await clock.advance(3_000);
  expect(phone.events.flatMap(({ opened }) => opened)).toEqual(['b']);
  expect(phone.last).toMatchObject({
    orders: { closed: ['o'] },
    session: { session: { balance: 80 } },
  });
  const before = gateway.sessions.length;
  // Polls are a second apart, so five polls take five of these sixty seconds.
  await clock.advance(MAX_AGE_MS);
  expect(gateway.sessions.length - before).toBe(12);
});

test('a snapshot without positions is not read again because the list of op 12 has changed', async () => {
  const { clock, gateway, phone } = await followAsPhone();
  gateway.changeSession = (session) => ({ ...session, positions: null });
  gateway.set(LOGIN, [position('a'), position('b')]);
  await clock.advance(3_000);
  expect(phone.last?.opened).toEqual(['b']);
  const before = gateway.sessions.length;
  // The snapshot is younger than its maximum age until then.
  await clock.advance(MAX_AGE_MS - 5_000);
  expect(gateway.sessions.length).toBe(before);
});

test('while op 12 fails, the positions are delayed, but the orders and figures of op 10 are current', async () => {
  const { clock, gateway, phone } = await followAsPhone();
  gateway.failWith('unavailable');
  gateway.setAccount(LOGIN, { orders: [order('o'), order('p')], balance: 70 });
  await clock.advance(2 * MAX_AGE_MS);
  expect(phone.last).toMatchObject({ status: 'DELAYED', session: { session: { balance: 70 } } });
  expect(phone.events.flatMap(({ orders }) => orders?.upserted ?? [])).toContainEqual(order('p'));
});

test('while op 10 fails, the positions stay live, and op 10 is read less and less often', async () => {
  const { clock, gateway, phone } = await followAsPhone();
  gateway.sessionFault = () => gatewayError('unavailable');
  gateway.set(LOGIN, [position('a'), position('b')]);
  await clock.advance(2_000);
  expect(phone.last).toMatchObject({ status: 'LIVE', opened: ['b'] });
  await clock.advance(118_000);
  expect(gateway.sessions.length).toBeLessThan(12);
  expect(phone.last?.status).toBe('LIVE');
});

test('an order during the read for an earlier order causes one more read', async () => {
  const { changed, clock, gateway } = await followAsPhone();
  gateway.latencyMs = 50;
  gateway.sessionLatencyMs = 500;
  changed(accountNamed(LOGIN));
  await clock.advance(100);
  changed(accountNamed(LOGIN));
  await clock.advance(399);
  expect(gateway.sessions).toHaveLength(2);
  await clock.advance(1);
  expect(gateway.sessions).toHaveLength(3);
});

test('a snapshot is read again at its maximum age, but not before the gateway’s Retry-After', async () => {
  const { clock, gateway, feeds, viewer, prove } = await followAsPhone();
  const phone = viewer('phone');
  prove(phone);
  /** Serves a list to a query after this time. Returns the number of reads by then. */
  const readsAfter = async (ms: number) => {
    await clock.advance(ms);
    await feeds.read(phone, { after: 1 });
    await clock.advance(0);
    return gateway.sessions.length;
  };
  gateway.sessionFault = () => gatewayError('rate-limited', 30);
  expect(await readsAfter(MAX_AGE_MS - 1)).toBe(1);
  expect(await readsAfter(1)).toBe(2);
  expect(await readsAfter(29_999)).toBe(2);
  expect(await readsAfter(1)).toBe(3);
});

test('an interval has at most one event, and none for a position that opened and closed in the interval', async () => {
  const { clock, gateway, viewer, followAccount } = await followAsPhone();
  const slow = followAccount(viewer('tablet'), { intervalMs: 10_000 });
  await clock.advance(1_000);
  gateway.set(LOGIN, [position('a'), position('brief')]);
  await clock.advance(4_000);
  gateway.set(LOGIN, [position('a')]);
  await clock.advance(8_000);
  // This is the first event of the subscription.
  expect(slow.events).toHaveLength(1);
  for (let second = 0; second < 20; second += 1) {
    gateway.set(LOGIN, [position('a', { profit: second })]);
    await clock.advance(1_000);
  }
  expect(slow.events).toHaveLength(3);
});

test('a later client gets the known state after one interval at the latest, even if another client joins', async () => {
  const { changed, clock, gateway, viewer, followAccount } = await followAsPhone();
  gateway.sessionLatencyMs = 100_000;
  changed(accountNamed(LOGIN));
  // The known snapshot is past its maximum age.
  await clock.advance(MAX_AGE_MS);
  const late = followAccount(viewer('tablet'));
  await clock.advance(600);
  followAccount(viewer('watch'));
  await clock.advance(399);
  expect(late.events).toEqual([]);
  await clock.advance(1);
  expect(late.events).toMatchObject([{ snapshot: true, orders: { upserted: [order('o')] } }]);
});

test('a cursor of the account resumes the account, but not a subscription to its positions', async () => {
  const bench = await followAsPhone();
  const { clock, viewer, followAccount, followChanges, phone } = bench;
  const after = phone.last?.cursor ?? '';
  executeOrder(bench);
  await clock.advance(2_000);
  const back = followAccount(viewer('phone'), { after });
  const other = followChanges(viewer('phone'), { after });
  await clock.advance(0);
  expect(back.events[0]).toMatchObject({
    snapshot: false,
    opened: ['o'],
    orders: { closed: ['o'] },
  });
  expect(other.events[0]).toMatchObject({ snapshot: true, orders: null, session: null });
});

test.each<[string, Partial<OpenPositionsOptions>, number]>([
  ['per five polls', {}, 24],
  ['per five polls at a longer interval', { pollMs: 2_000 }, 12],
  ['per SESSION_MAX_AGE_SECONDS if that is shorter', { sessionMaxAgeMs: 3_000 }, 40],
])(
  'op 10 is read once %s while a client follows figures, and once per SESSION_MAX_AGE_SECONDS afterwards',
  async (_what, options, readsForFigures) => {
    const { clock, gateway, viewer, followAccount } = await followAsPhone(options);
    const figureFollowers = ['tablet', 'watch'].map((name) =>
      followAccount(viewer(name), { follows: 'figures' }),
    );
    await clock.advance(10_000);
    const readsDuring = async (ms: number) => {
      const before = gateway.sessions.length;
      for (let second = 0; second < ms / 1_000; second += 1) {
        gateway.set(LOGIN, [position('a', { priceCurrent: second })]);
        await clock.advance(1_000);
      }
      return gateway.sessions.length - before;
    };
    expect(await readsDuring(120_000)).toBe(readsForFigures);
    await Promise.all(figureFollowers.map((follower) => follower.leave()));
    const { sessionMaxAgeMs = MAX_AGE_MS } = options;
    const maxAgeReads = (4 * MAX_AGE_MS) / sessionMaxAgeMs;
    expect(await readsDuring(4 * MAX_AGE_MS)).toBe(maxAgeReads);
    // A new position may come from an order, so op 10 is read once more.
    const before = gateway.sessions.length;
    gateway.set(LOGIN, [position('a'), position('b')]);
    await clock.advance(2_000);
    expect(gateway.sessions.length).toBe(before + 1);
  },
);

test('above the ceiling of polls, polls and reads of the session are slowed equally', async () => {
  // A poll a second and a read per five seconds are 1.2 calls a second. Steady calls may use 95% of the ceiling, here 0.6.
  const pollsPerSecond = 0.6 / 0.95;
  const { clock, gateway, viewer, followAccount } = await followAsPhone({ pollsPerSecond });
  followAccount(viewer('tablet'), { follows: 'figures' });
  await clock.advance(10_000);
  const [pollsBefore, readsBefore] = [gateway.polls.length, gateway.sessions.length];
  await clock.advance(600_000);
  // The upper bounds are half of the 600 polls and of the 120 reads that the clients ask for in ten minutes. The lower
  // bounds exclude that one kind is slowed much more than the other.
  const polls = gateway.polls.length - pollsBefore;
  expect(polls).toBeGreaterThan(260);
  expect(polls).toBeLessThanOrEqual(300);
  const reads = gateway.sessions.length - readsBefore;
  expect(reads).toBeGreaterThan(45);
  expect(reads).toBeLessThanOrEqual(60);
});
