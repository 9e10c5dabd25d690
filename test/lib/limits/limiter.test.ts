import { describe, expect, test } from 'vitest';
import { Limiter, type ShareUsage } from '../../../src/lib/limits/limiter.ts';
import {
  accountClient,
  addressClient,
  type Client,
  singleClient,
} from '../../../src/lib/limits/request-caller.ts';
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
    // One of three requests a minute is allowed again after 20 seconds.
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

  test('lets a client owe what it has already used, up to the size of the limit', async () => {
    const { clock, limiter } = createFixture(limited('fields', 60));
    expect(limiter.spend('fields', A, 70)).toMatchObject({ isOver: true, left: -10 });
    expect(limiter.take('fields', A, 0)).toMatchObject({ isOver: true, waitMs: 10_000 });
    expect(limiter.spend('fields', A, 1_000)).toMatchObject({ left: -60 });
    await clock.advance(60_000);
    expect(limiter.take('fields', A, 0)).toMatchObject({ isOver: false, left: 0 });
  });

  test('takes a charge back up to its size, and moves a charge to another client that has enough left', async () => {
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
    // B has one request left, and takes over the charge of A.
    limiter.take('requests', A);
    limiter.move('requests', A, B);
    expect(limiter.take('requests', B)).toMatchObject({ isOver: true });
    expect(limiter.take('requests', A)).toMatchObject({ isOver: false });
    // B has none left now, so the charge stays with A.
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
  const passesFrom = (address: string) => passes(addressClient(address));
  expect(passesFrom('2001:db8:1:1::1')).toBe(true);
  expect(passesFrom('2001:db8:1:1::2')).toBe(true);
  expect(passesFrom('2001:db8:1:1::3')).toBe(false);
  expect(passesFrom('2001:db8:1:2::1')).toBe(true);
});

test('the memory is bounded: at most 100,000 clients of a kind are kept, the most recently used', () => {
  const { limiter } = createFixture(limited('requests', 1));
  limiter.take('requests', A);
  for (let index = 0; index < 99_999; index += 1) {
    limiter.take('requests', singleClient('address', String(index)));
  }
  const full = limiter.byteSize;
  expect(limiter.take('requests', A)).toMatchObject({ isOver: true });
  // B replaces the client '0', which was used least recently. A was used meanwhile, and is kept.
  limiter.take('requests', B);
  expect(limiter.byteSize).toBe(full);
  expect(limiter.take('requests', A)).toMatchObject({ isOver: true });
  expect(limiter.take('requests', singleClient('address', '0'))).toMatchObject({ isOver: false });
  // Another kind of client has a separate cache.
  limiter.take('requests', accountClient(accountNamed('1')));
  expect(limiter.byteSize).toBeGreaterThan(full);
});

describe('replicas that share a limit', () => {
  /** A store with one bucket, which subtracts the usage that replicas report. */
  function sharedStore(size: number) {
    let level = size;
    const reported: string[][] = [];
    const share: ShareUsage = async (keys, [_size, _refill, usage = 0]) => {
      reported.push(keys);
      level -= usage;
      return [level];
    };
    return { reported, share };
  }

  function replicasOf(limits: Partial<LimitTable>, share: ShareUsage) {
    const clock = createScriptedClock();
    const open = () => new Limiter({ ...DEFAULT_LIMITS, ...limits }, clock, share);
    return { clock, one: open(), other: open() };
  }

  test('learn the usage of other replicas within a tenth of a second', async () => {
    const { reported, share } = sharedStore(10);
    const { clock, one, other } = replicasOf(limited('requests', 10), share);
    for (let index = 0; index < 8; index += 1) one.take('requests', A);
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
    const { clock, one } = replicasOf(limited('requests', 10), async (...report) => {
      one.take('requests', A, 3);
      return store.share(...report);
    });
    one.take('requests', A, 2);
    await clock.advance(100);
    expect(one.take('requests', A, 0).left).toBeCloseTo(10 - 2 - 3, 1);
  });

  test('count for themselves while the store is down, and always for a limit per process', async () => {
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
