import { describe, expect, test } from 'vitest';
import { accountClient, addressClient, singleClient } from '../../../lib/limits/client.ts';
import { Limiter, type Share } from '../../../lib/limits/limiter.ts';
import { accountNamed } from '../../support/accounts.ts';
import {
  createTestLimiter,
  DEFAULT_LIMITS,
  type LimitTable,
  limited,
} from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const A = singleClient('address', 'a');
const B = singleClient('address', 'b');

function stage(limits: Partial<LimitTable>) {
  const clock = createScriptedClock();
  const limiter = createTestLimiter(limits, clock);
  return { clock, limiter };
}

describe('a limit', () => {
  test('is taken from down to nothing, each client has its own, and it refills evenly within a minute', async () => {
    const { clock, limiter } = stage(limited('requests', 3));
    expect(limiter.take('requests', A, 2)).toMatchObject({ isOver: false, left: 1, max: 3 });
    expect(limiter.take('requests', A)).toMatchObject({ isOver: false, left: 0, waitMs: 60_000 });
    expect(limiter.take('requests', A)).toMatchObject({ isOver: true, left: 0, waitMs: 20_000 });
    expect(limiter.take('requests', B)).toMatchObject({ isOver: false, left: 2 });
    expect(limiter.take('fields', A)).toMatchObject({ isOver: false });
    await clock.advance(19_999);
    expect(limiter.take('requests', A)).toMatchObject({ isOver: true });
    await clock.advance(1);
    expect(limiter.take('requests', A)).toMatchObject({ isOver: false });
    expect(limiter.take('requests', A)).toMatchObject({ isOver: true });
    await clock.advance(3_600_000);
    expect(limiter.take('requests', A, 0)).toMatchObject({ left: 3, waitMs: 0 });
  });

  test('without a number for a kind of client refuses to count it', () => {
    const { limiter } = stage({});
    expect(() => limiter.take('orders', A)).toThrow('orders has no number for address');
  });

  test('is owed by whoever has used more, as much again at most', async () => {
    const { clock, limiter } = stage(limited('fields', 60));
    expect(limiter.spend('fields', A, 70)).toMatchObject({ isOver: true, left: -10 });
    expect(limiter.take('fields', A, 0)).toMatchObject({ isOver: true, waitMs: 10_000 });
    expect(limiter.spend('fields', A, 1_000)).toMatchObject({ left: -60 });
    await clock.advance(60_000);
    expect(limiter.take('fields', A, 0)).toMatchObject({ isOver: false, left: 0 });
  });

  test('has what is given back, never more than there was, or moves to another that has some left', async () => {
    const { clock, limiter } = stage({ ...limited('requests', 1), ...limited('subscriptions', 1) });
    limiter.take('subscriptions', A);
    // One that counts what there is at a time has nothing else, however long it takes.
    await clock.advance(3_600_000);
    expect(limiter.take('subscriptions', A)).toMatchObject({ isOver: true });
    limiter.giveBack('subscriptions', A);
    expect(limiter.take('subscriptions', A)).toMatchObject({ isOver: false });
    limiter.giveBack('requests', B);
    expect(limiter.take('requests', B, 0)).toMatchObject({ left: 1 });
    limiter.take('requests', A);
    limiter.move('requests', A, B);
    expect(limiter.take('requests', B)).toMatchObject({ isOver: true });
    expect(limiter.take('requests', A)).toMatchObject({ isOver: false });
    limiter.move('requests', A, B);
    expect(limiter.take('requests', A)).toMatchObject({ isOver: true });
  });
});

describe('of an account', () => {
  const taker = (name: 'requests' | 'subscriptions', max: number) => {
    const { clock, limiter } = stage(limited(name, max));
    const passed = (hash: string) =>
      !limiter.take(name, accountClient(accountNamed('1'), hash)).isOver;
    const times = (hash: string, of: number) =>
      Array(of).fill(hash).map(passed).filter(Boolean).length;
    return { clock, times };
  };

  test('a token has all of a minute, beside which half as much is kept for all others; of what refills each has half', async () => {
    const { clock, times } = taker('requests', 60);
    expect(times('x', 70)).toBe(60);
    expect([times('y', 40), times('x', 1), times('z', 1)]).toEqual([30, 0, 0]);
    await clock.advance(30_000);
    expect([times('y', 40), times('x', 40)]).toEqual([15, 15]);
    await clock.advance(120_000);
    expect([times('x', 70), times('y', 70), times('z', 70)]).toEqual([60, 30, 0]);
    // Alone again it has all that refills.
    await clock.advance(60_000);
    expect(times('x', 70)).toBe(30);
    await clock.advance(60_000);
    expect(times('x', 70)).toBe(60);
  });

  test('a token that is lent some owes nothing of it, and gives it back to its account', () => {
    const { limiter } = stage(limited('requests', 4));
    const [x, y] = ['x', 'y'].map((hash) => accountClient(accountNamed('1'), hash));
    if (!x || !y) throw new Error('two tokens');
    expect(limiter.take('requests', x, 3)).toMatchObject({ isOver: false, left: 2, max: 2 });
    limiter.giveBack('requests', x);
    expect(limiter.take('requests', x, 2)).toMatchObject({ isOver: false, left: 0 });
    expect(limiter.spend('requests', x, 1)).toMatchObject({ isOver: true });
    // From then on it takes nothing of what is kept for the others.
    limiter.spend('requests', x, 3);
    expect(limiter.take('requests', y, 1)).toMatchObject({ isOver: false });
  });

  test('a token alone has half of what is held at a time, which nobody could be given back', () => {
    const { times } = taker('subscriptions', 6);
    expect([times('x', 4), times('y', 4)]).toEqual([3, 3]);
  });
});

const at = (subnet: string) => addressClient(`2001:db8:1:${subnet}::1`);

test('of an IPv6 address a /64 has it once, a /56 four times and a /48 sixteen times', () => {
  const { limiter } = stage(limited('requests', 1));
  const passed = (subnets: readonly string[]) =>
    subnets.filter((subnet) => !limiter.take('requests', at(subnet)).isOver).length;
  const networks = (subnet: number) =>
    Array.from({ length: 10 }, (_, host) => (subnet * 256 + host).toString(16));
  expect(passed(['1', '1'])).toBe(1);
  expect(passed(networks(0))).toBe(3);
  expect([1, 2, 3, 4, 5].map((subnet) => passed(networks(subnet)))).toEqual([4, 4, 4, 0, 0]);
  expect(limiter.take('requests', addressClient('2001:db8:2::1'))).toMatchObject({
    isOver: false,
  });
});

test('a flood of clients costs no more memory, and is the first to be forgotten', () => {
  const { limiter } = stage(limited('requests', 1));
  limiter.take('requests', A);
  for (let at = 0; at < 99_999; at += 1) {
    limiter.take('requests', singleClient('address', String(at)));
  }
  const full = limiter.byteSize;
  expect(limiter.take('requests', A)).toMatchObject({ isOver: true });
  limiter.take('requests', B);
  expect(limiter.byteSize).toBe(full);
  expect(limiter.take('requests', A)).toMatchObject({ isOver: true });
  expect(limiter.take('requests', singleClient('address', '0'))).toMatchObject({ isOver: false });
  // Another kind of client has a memory of its own.
  limiter.take('requests', accountClient(accountNamed('1'), 'h'));
  expect(limiter.byteSize).toBeGreaterThan(full);
});

describe('replicas that share', () => {
  /** A store that sums up what it is told of one bucket. */
  function sharedStore(most: number) {
    let level = most;
    const told: string[][] = [];
    const share: Share = async (keys, [, , taken = 0]) => {
      told.push(keys);
      level -= taken;
      return [level];
    };
    return { told, share };
  }

  function replicasOf(limits: Partial<LimitTable>, share: Share) {
    const clock = createScriptedClock();
    const open = () => new Limiter({ ...DEFAULT_LIMITS, ...limits }, clock, share);
    return { clock, one: open(), other: open() };
  }

  test('learn within a tenth of a second what others have let through', async () => {
    const { told, share } = sharedStore(10);
    const { clock, one, other } = replicasOf(limited('requests', 10), share);
    for (let at = 0; at < 8; at += 1) one.take('requests', A);
    other.take('requests', A);
    await clock.advance(100);
    expect(told).toEqual([['requests address a'], ['requests address a']]);
    other.take('requests', A);
    await clock.advance(100);
    expect(other.take('requests', A)).toMatchObject({ isOver: true });
    expect(clock.pending).toBe(0);
  });

  test('owe together what they have let through beyond the limit', async () => {
    const { clock, one, other } = replicasOf(limited('login', 4), sharedStore(4).share);
    const pair = singleClient('pair', 'x');
    for (const replica of [one, other]) replica.take('login', pair, 4);
    await clock.advance(100);
    expect(other.take('login', pair, 0).left).toBeCloseTo(-4);
  });

  test('count what is taken while the store answers', async () => {
    const store = sharedStore(10);
    const { clock, one } = replicasOf(limited('requests', 10), async (...taken) => {
      one.take('requests', A, 3);
      return store.share(...taken);
    });
    one.take('requests', A, 2);
    await clock.advance(100);
    expect(one.take('requests', A, 0).left).toBeCloseTo(5, 1);
  });

  test('count for themselves while the store is away, and what costs them alone always', async () => {
    const { clock, one } = replicasOf(limited('requests', 2), async () => null);
    one.take('requests', A, 2);
    await clock.advance(100);
    expect(one.take('requests', A)).toMatchObject({ isOver: true });
    const { told, share } = sharedStore(5);
    const alone = replicasOf(limited('messages', 5), share);
    alone.one.spend('messages', A, 1);
    await alone.clock.advance(1_000);
    expect(told).toEqual([]);
  });
});
