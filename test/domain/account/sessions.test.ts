import { describe, expect, test } from 'vitest';
import type { SessionAnswer } from '../../../src/gateway/answers.ts';
import type { ReceiptEntry } from '../../../src/gateway/caller.ts';
import { eventually } from '../../support/eventually.ts';
import { MAX_AGE_MS, openAccountWorld, PROOF_MS, snapshot, viewer } from './account-world.ts';

const demo = viewer('demo');

/** Reads a snapshot and answers its call. */
async function readAs(world: ReturnType<typeof openAccountWorld>, balance: number, who = demo) {
  const read = world.sessions.read(who);
  world.calls.at(-1)?.answer(snapshot(balance));
  return (await read).session.balance;
}

test('a snapshot is served until its maximum age', async () => {
  const world = openAccountWorld();
  await readAs(world, 1);
  await world.clock.advance(MAX_AGE_MS - 1_000);
  expect((await world.sessions.read(demo)).session.balance).toBe(1);
  // The real time that this test takes is part of the age.
  await world.clock.advance(2_000);
  expect(await readAs(world, 2)).toBe(2);
  expect(world.calls).toHaveLength(2);
});

test('a read may require a younger snapshot, never allow an older one', async () => {
  const world = openAccountWorld();
  await readAs(world, 1);
  await world.clock.advance(10_000);
  await world.sessions.read(demo, { maxAgeMs: 20_000 });
  expect(world.calls).toHaveLength(1);
  void world.sessions.read(demo, { maxAgeMs: 5_000 });
  expect(world.calls).toHaveLength(2);
  await world.clock.advance(MAX_AGE_MS);
  void world.sessions.read(demo, { maxAgeMs: 10 * MAX_AGE_MS, after: world.logicalClock.next() });
  expect(world.calls).toHaveLength(3);
});

test('the age of a snapshot counts from when its call was sent', async () => {
  const world = openAccountWorld();
  const slow = world.sessions.read(demo);
  await world.clock.advance(MAX_AGE_MS);
  world.calls[0]?.answer(snapshot(1));
  expect((await slow).session.balance).toBe(1);
  expect(await readAs(world, 2)).toBe(2);
});

test('a read that began before the account changed answers its readers, and is not cached', async () => {
  const world = openAccountWorld();
  const asked = world.sessions.read(demo);
  world.sessions.accountChanged('1001');
  const later = world.sessions.read(demo);
  expect(world.calls).toHaveLength(2);
  world.calls[1]?.answer(snapshot(2));
  world.calls[0]?.answer(snapshot(1));
  expect((await asked).session.balance).toBe(1);
  expect((await later).session.balance).toBe(2);
  expect((await world.sessions.read(demo)).session.balance).toBe(2);
  expect(world.calls).toHaveLength(2);
});

test('of two reads the one that began later is cached, whichever is answered first', async () => {
  const world = openAccountWorld();
  const first = world.sessions.read(demo);
  const second = world.sessions.read(demo, { after: world.logicalClock.next() });
  world.calls[1]?.answer(snapshot(2));
  await second;
  world.calls[0]?.answer(snapshot(1));
  await first;
  expect((await world.sessions.read(demo)).session.balance).toBe(2);
});

test('a change of one account does not make others’ snapshots stale', async () => {
  const world = openAccountWorld();
  await readAs(world, 1);
  world.sessions.accountChanged('1002');
  await world.sessions.read(demo);
  expect(world.calls).toHaveLength(1);
});

test('a token that was refused, or not accepted for long, does not get its cached snapshot', async () => {
  const world = openAccountWorld();
  await readAs(world, 1);
  world.ledger.refused(demo);
  void world.sessions.read(demo);
  expect(world.calls).toHaveLength(2);

  const other = openAccountWorld();
  await readAs(other, 1);
  await other.clock.advance(Math.max(PROOF_MS, MAX_AGE_MS));
  void other.sessions.read(demo);
  expect(other.calls).toHaveLength(2);
});

test('the memory of snapshots is bounded, and recently read ones stay', async () => {
  const world = openAccountWorld({ maxBytes: 8_000 });
  const viewers = Array.from({ length: 20 }, (_, i) => viewer(`token ${i}`));
  for (const who of viewers) await readAs(world, 1, who);
  const before = world.calls.length;
  for (const who of viewers) void world.sessions.read(who);
  const asked = world.calls.length - before;
  expect(asked).toBeGreaterThan(10);
  expect(asked).toBeLessThan(20);
});

test('a receipt says whether a call was made, shared or not needed', async () => {
  const world = openAccountWorld();
  const entries: ReceiptEntry[] = [];
  const curious = viewer('demo', (entry) => entries.push(entry));
  const own = world.sessions.read(curious);
  const shared = world.sessions.read(curious);
  world.calls[0]?.answer(snapshot(1));
  await Promise.all([own, shared]);
  await world.sessions.read(curious);
  // The component that makes the call adds its entry.
  expect(entries.map(({ source }) => source)).toEqual(['shared', 'cache']);
});

test('a snapshot in memory is served once it is certain that no other replica has changed the account', async () => {
  const asked: string[] = [];
  let isCertain = true;
  const catchUp = async (login: string) => {
    asked.push(login);
    return isCertain;
  };
  const world = openAccountWorld({ freshness: { catchUp } });
  await readAs(world, 1);
  // A call that is sent now cannot be older than an order.
  expect(asked).toEqual([]);
  expect((await world.sessions.read(demo)).session.balance).toBe(1);
  expect(asked).toEqual(['1001']);
  isCertain = false;
  const again = world.sessions.read(demo);
  await world.clock.advance(0);
  expect(world.calls).toHaveLength(2);
  world.calls[1]?.answer(snapshot(2));
  expect((await again).session.balance).toBe(2);
});

test('a snapshot that was sent before a position opened is not served again, whoever saw the position', async () => {
  const world = openAccountWorld();
  const early = world.sessions.read(demo);
  // The token is not proved yet, so that its own positions count for it alone.
  const positions = world.gateway.getOpenPositions(demo, null);
  world.calls[1]?.answer({ positions: [{ id: 'a', symbol: 'AAPL' }] });
  await positions;
  world.calls[0]?.answer(snapshot(1));
  await early;
  expect(world.sessions.cached(demo)).toBeNull();
  const late = world.sessions.read(demo);
  world.calls[2]?.answer(snapshot(2, ['a']));
  await late;
  expect(world.sessions.cached(demo)?.session.balance).toBe(2);

  const other = viewer('other');
  const proving = world.sessions.read(other);
  world.calls[3]?.answer(snapshot(3, ['a']));
  await proving;
  const seen = world.gateway.getOpenPositions(other, null);
  world.calls[4]?.answer({ positions: [] });
  await seen;
  expect(world.sessions.cached(demo)).toBeNull();
});

test('a snapshot that names no positions contradicts none', async () => {
  const world = openAccountWorld();
  const read = world.sessions.read(demo);
  world.calls[0]?.answer({ login: 1001, group: 'standard', balance: 1 });
  await read;
  const positions = world.gateway.getOpenPositions(demo, null);
  world.calls[1]?.answer({ positions: [{ id: 'a', symbol: 'AAPL' }] });
  await positions;
  expect(world.sessions.cached(demo)?.session.balance).toBe(1);
});

test('a poll takes what is in memory, or under way, since the time that it names', async () => {
  const world = openAccountWorld();
  const before = world.logicalClock.next();
  const read = world.sessions.read(demo);
  expect(world.sessions.isReading(demo)).toBe(true);
  const polled = world.sessions.poll(demo, before);
  world.calls[0]?.answer(snapshot(1));
  expect((await polled).session.balance).toBe(1);
  await read;
  expect(world.sessions.isReading(demo)).toBe(false);
  expect((await world.sessions.poll(demo, before)).session.balance).toBe(1);
  expect(world.calls).toHaveLength(1);
  const later = world.sessions.poll(demo, world.logicalClock.next());
  world.calls[1]?.answer(snapshot(2));
  expect((await later).session.balance).toBe(2);
});

test('a change of any account makes all snapshots stale, and the orders of an account are counted', async () => {
  const world = openAccountWorld();
  const read = world.sessions.read(demo);
  world.calls[0]?.answer({ ...snapshot(1), orders: [{ id: 'o', symbol: 'AAPL' }] });
  await read;
  expect(world.sessions.orderCount('1001')).toBe(1);
  expect(world.sessions.orderCount('1002')).toBe(0);
  world.sessions.anyAccountChanged();
  expect(world.sessions.cached(demo)).toBeNull();
});

test('of more users than there is room for, who come in turn, as many as there is room for are served from memory', async () => {
  const world = openAccountWorld({ maxBytes: 10_000 });
  const viewers = Array.from({ length: 15 }, (_, i) => viewer(`token ${i}`));
  const round = async () => {
    const before = world.calls.length;
    for (const who of viewers) {
      const read = world.sessions.read(who);
      world.calls.at(-1)?.answer(snapshot(1));
      await read;
    }
    return world.calls.length - before;
  };
  expect(await round()).toBe(15);
  for (let at = 0; at < 5; at += 1) {
    await world.clock.advance(5_000);
    expect(await round()).toBeLessThanOrEqual(7);
  }
});

test('who comes no more makes room after a minute', async () => {
  const world = openAccountWorld({ maxBytes: 10_000 });
  // Answers have the system's time: of one that came in this very millisecond the age is a minute below.
  await eventually(() => Date.now() > world.clock.now());
  for (let at = 0; at < 12; at += 1) await readAs(world, 1, viewer(`gone ${at}`));
  const isKept = (at: number) => world.sessions.cached(viewer(`gone ${at}`)) !== null;
  expect([isKept(9), isKept(10)]).toEqual([true, false]);
  const calls = async () => {
    const before = world.calls.length;
    await readAs(world, 1, viewer('new'));
    return world.calls.length - before;
  };
  expect([await calls(), await calls()]).toEqual([1, 1]);
  await world.clock.advance(MAX_AGE_MS);
  expect([await calls(), await calls()]).toEqual([1, 0]);
});

test('a snapshot is cached without the rows of its positions', async () => {
  const world = openAccountWorld();
  const read = world.sessions.read(demo);
  world.calls[0]?.answer(snapshot(1, ['a', 'b']));
  expect((await read).session.positions?.rows).toHaveLength(2);
  const { positions } = (await world.sessions.read(demo)).session;
  expect(positions).toEqual({ ids: ['a', 'b'], units: [null, null], rows: null });
});

test('a reader who needs the rows shares a call under way, and else has one of its own', async () => {
  const world = openAccountWorld();
  const hasRows = ({ session }: SessionAnswer) => session.positions?.rows != null;
  const first = world.sessions.read(demo);
  const shared = world.sessions.read(demo, { hasRows });
  world.calls[0]?.answer(snapshot(1, ['a']));
  expect(await shared).toBe(await first);
  const again = world.sessions.read(demo, { hasRows });
  expect(world.calls).toHaveLength(2);
  world.calls[1]?.answer(snapshot(2, ['a']));
  expect((await again).session.positions?.rows).toHaveLength(1);
  // The newer one is what others have from memory now.
  expect((await world.sessions.read(demo)).session.balance).toBe(2);
  expect(world.calls).toHaveLength(2);
});

describe('a snapshot whose call began before that of one which', () => {
  /** Two calls for the same token, answered in the other order: the later one's answer is served first. */
  async function readTwice(world: ReturnType<typeof openAccountWorld>) {
    const early = world.sessions.read(demo);
    const late = world.sessions.read(demo, { after: world.logicalClock.next() });
    const [first, second] = world.calls.splice(-2);
    second?.answer(snapshot(2));
    expect((await late).session.balance).toBe(2);
    return { early, answerEarly: () => first?.answer(snapshot(1)) };
  }

  test('was not kept for want of room is not cached either', async () => {
    const world = openAccountWorld({ maxBytes: 2_100 });
    await readAs(world, 1, viewer('one'));
    await readAs(world, 1, viewer('other'));
    const { early, answerEarly } = await readTwice(world);
    expect(world.sessions.cached(demo)).toBeNull();
    // Now there would be room.
    await world.clock.advance(MAX_AGE_MS);
    answerEarly();
    expect((await early).session.balance).toBe(1);
    expect(world.sessions.cached(demo)).toBeNull();
  });

  test('has been evicted is not cached either', async () => {
    const world = openAccountWorld({ maxBytes: 2_100 });
    const { early, answerEarly } = await readTwice(world);
    await world.clock.advance(MAX_AGE_MS);
    await readAs(world, 1, viewer('one'));
    await readAs(world, 1, viewer('other'));
    expect(world.sessions.cached(demo)).toBeNull();
    answerEarly();
    await early;
    expect(world.sessions.cached(demo)).toBeNull();
  });
});

test('no number of changed accounts makes a stale snapshot current again', async () => {
  const world = openAccountWorld();
  await readAs(world, 1);
  world.sessions.accountChanged('1001');
  for (let at = 0; at < 100_000; at += 1) world.sessions.accountChanged(`other ${at}`);
  void world.sessions.read(demo);
  expect(world.calls).toHaveLength(2);
});
