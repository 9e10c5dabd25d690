import { describe, expect, test } from 'vitest';
import {
  accountClient,
  addressClient,
  type Client,
  singleClient,
} from '../../../src/lib/limits/client.ts';
import { Limiter, type Share } from '../../../src/lib/limits/limiter.ts';
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

  test('is owed by a caller that has used more, at most as much again', async () => {
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

test('all tokens of an account have one, and so has a /64 of IPv6', () => {
  const { limiter } = stage(limited('requests', 2));
  const passes = (client: Client) => !limiter.take('requests', client).isOver;
  const account = () => accountClient(accountNamed('1'));
  expect([passes(account()), passes(account()), passes(account())]).toEqual([true, true, false]);
  expect(passes(accountClient(accountNamed('2')))).toBe(true);
  const at = (host: string) => addressClient(`2001:db8:1:${host}`);
  expect(['1::1', '1::2', '1::3', '2::1'].map((host) => passes(at(host)))).toEqual([
    true,
    true,
    false,
    true,
  ]);
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
  limiter.take('requests', accountClient(accountNamed('1')));
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
