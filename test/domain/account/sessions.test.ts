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
