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

function createFixture(limits: Partial<LimitTable>) {
  const clock = createScriptedClock();
  const limiter = createTestLimiter(limits, clock);
  return { clock, limiter };
}

describe('a limit', () => {
  test('can be used up by each client separately, and refills evenly within a minute', async () => {
    const { clock, limiter } = createFixture(limited('requests', 3));
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

  test('throws for a kind of client that is not in its table', () => {
    const { limiter } = createFixture({});
    expect(() => limiter.take('orders', A)).toThrow('orders has no number for address');
  });

  test('allows debt after use, at most of its own size', async () => {
    const { clock, limiter } = createFixture(limited('fields', 60));
    expect(limiter.spend('fields', A, 70)).toMatchObject({ isOver: true, left: -10 });
    expect(limiter.take('fields', A, 0)).toMatchObject({ isOver: true, waitMs: 10_000 });
    expect(limiter.spend('fields', A, 1_000)).toMatchObject({ left: -60 });
    await clock.advance(60_000);
    expect(limiter.take('fields', A, 0)).toMatchObject({ isOver: false, left: 0 });
  });

  test('takes tokens back up to its size, and moves a charge to a client that has enough left', async () => {
    const { clock, limiter } = createFixture({
      ...limited('requests', 1),
      ...limited('subscriptions', 1),
    });
    limiter.take('subscriptions', A);
    // A limit of concurrent use does not refill.
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

test('all tokens of an account share one limit, and so do all addresses of an IPv6 /64', () => {
  const { limiter } = createFixture(limited('requests', 2));
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

test('the memory is bounded: a flood of clients evicts the least recently used', () => {
  const { limiter } = createFixture(limited('requests', 1));
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
  // Another kind of client has a separate cache.
  limiter.take('requests', accountClient(accountNamed('1')));
  expect(limiter.byteSize).toBeGreaterThan(full);
});

describe('replicas that share a limit', () => {
  /** A store that sums up the reported usage of one bucket. */
  function sharedStore(most: number) {
    let level = most;
    const reported: string[][] = [];
    const share: Share = async (keys, [, , taken = 0]) => {
      reported.push(keys);
      level -= taken;
      return [level];
    };
    return { reported, share };
  }

  function replicasOf(limits: Partial<LimitTable>, share: Share) {
    const clock = createScriptedClock();
    const open = () => new Limiter({ ...DEFAULT_LIMITS, ...limits }, clock, share);
    return { clock, one: open(), other: open() };
  }

  test('learn the usage of the others within a tenth of a second', async () => {
    const { reported, share } = sharedStore(10);
    const { clock, one, other } = replicasOf(limited('requests', 10), share);
    for (let at = 0; at < 8; at += 1) one.take('requests', A);
    other.take('requests', A);
    await clock.advance(100);
    expect(reported).toEqual([['requests address a'], ['requests address a']]);
    other.take('requests', A);
    await clock.advance(100);
    expect(other.take('requests', A)).toMatchObject({ isOver: true });
    expect(clock.pending).toBe(0);
  });

  test('turn usage beyond the limit into debt', async () => {
    const { clock, one, other } = replicasOf(limited('login', 4), sharedStore(4).share);
    const pair = singleClient('pair', 'x');
    for (const replica of [one, other]) replica.take('login', pair, 4);
    await clock.advance(100);
    expect(other.take('login', pair, 0).left).toBeCloseTo(-4);
  });

  test('count usage during a call of the store', async () => {
    const store = sharedStore(10);
    const { clock, one } = replicasOf(limited('requests', 10), async (...taken) => {
      one.take('requests', A, 3);
      return store.share(...taken);
    });
    one.take('requests', A, 2);
    await clock.advance(100);
    expect(one.take('requests', A, 0).left).toBeCloseTo(5, 1);
  });

  test('count for themselves while the store is down, and limits per process always', async () => {
    const { clock, one } = replicasOf(limited('requests', 2), async () => null);
    one.take('requests', A, 2);
    await clock.advance(100);
    expect(one.take('requests', A)).toMatchObject({ isOver: true });
    const { reported, share } = sharedStore(5);
    const alone = replicasOf(limited('messages', 5), share);
    alone.one.spend('messages', A, 1);
    await alone.clock.advance(1_000);
    expect(reported).toEqual([]);
  });
});
