import { expect, test } from 'vitest';
import type { ReceiptEntry } from '../../../src/gateway/caller.ts';
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
  const world = openAccountWorld({ maxBytes: 10_000 });
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
  const list = (await positions).positions;
  const cached = world.sessions.cached(demo);
  expect(cached?.session.balance).toBe(1);
  if (cached === null) throw new Error('there is no snapshot');
  expect(world.sessions.agreeing(demo, cached, list)).toBe(cached);
});

test('orders agree with a list of positions, or are read once more', async () => {
  const world = openAccountWorld();
  const read = world.sessions.read(demo);
  world.calls[0]?.answer(snapshot(1, ['a', 'b']));
  const answer = await read;
  const [a, b] = answer.session.positions ?? [];
  if (a === undefined || b === undefined) throw new Error('there are no positions');
  expect(world.sessions.agreeing(demo, answer, [b, a])).toBe(answer);
  const anew = world.sessions.agreeing(demo, answer, [a]);
  expect(world.calls).toHaveLength(2);
  world.calls[1]?.answer(snapshot(2, ['a']));
  expect((await anew).session.balance).toBe(2);
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
