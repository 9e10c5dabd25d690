import { expect, test } from 'vitest';
import type { Account } from '../../../src/lib/account.ts';
import type { AccountVersions } from '../../../src/store/shared-store.ts';
import { accountNamed } from '../../support/accounts.ts';
import { viewerOf } from '../viewer.ts';
import { listOf, MAX_AGE_MS, openAccountWorld, PROOF_MS, snapshot } from './account-world.ts';

const demo = viewerOf('demo');

/** Reads a snapshot, and answers its call with this balance. */
async function fetchWith(balance: number, world: ReturnType<typeof openAccountWorld>, who = demo) {
  const read = world.sessions.read(who);
  world.calls.at(-1)?.answer(snapshot(balance));
  await read;
}

test('a read that began before the account changed is answered, but not cached', async () => {
  const world = openAccountWorld();
  const early = world.sessions.read(demo);
  world.accountReads.changed(accountNamed('1001'));
  const later = world.sessions.read(demo);
  void world.sessions.read(demo);
  expect(world.calls).toHaveLength(2);
  world.calls[1]?.answer(snapshot(2));
  world.calls[0]?.answer(snapshot(1));
  expect((await early).session.balance).toBe(1);
  expect((await later).session.balance).toBe(2);
  expect((await world.sessions.read(demo)).session.balance).toBe(2);
  expect(world.calls).toHaveLength(2);
});

test('a snapshot is served up to the maximum age, or up to a lower age that a reader asks for', async () => {
  const world = openAccountWorld();
  await fetchWith(1, world);
  await world.clock.advance(MAX_AGE_MS - 1);
  expect(world.sessions.cached(demo, { maxAgeMs: 2 * MAX_AGE_MS })).not.toBeNull();
  expect(world.sessions.cached(demo, { maxAgeMs: MAX_AGE_MS - 1 })).toBeNull();
  await world.clock.advance(1);
  expect(world.sessions.cached(demo, { maxAgeMs: 2 * MAX_AGE_MS })).toBeNull();
});

test('a snapshot is served only while its token is accepted', async () => {
  const world = openAccountWorld({ maxAgeMs: 2 * PROOF_MS });
  const revoked = viewerOf('revoked');
  for (const viewer of [demo, revoked]) await fetchWith(1, world, viewer);
  world.ledger.refused(revoked);
  await world.clock.advance(PROOF_MS - 1);
  expect([demo, revoked].map((each) => world.sessions.cached(each) !== null)).toEqual([
    true,
    false,
  ]);
  await world.clock.advance(1);
  expect(world.sessions.cached(demo)).toBeNull();
});

test('the memory of snapshots is bounded, and the least recently read ones are evicted first', async () => {
  // A snapshot counts as 1,000 bytes, so eight fit.
  const world = openAccountWorld({ maxBytes: 8_000 });
  const viewers = Array.from({ length: 20 }, (_, index) => viewerOf(`token ${index}`));
  for (const viewer of viewers) await fetchWith(1, world, viewer);
  const inMemory = viewers.filter((who) => world.sessions.cached(who) !== null);
  expect(inMemory).toEqual(viewers.slice(12));
});

test('a snapshot in memory is served only after a check for changes by other replicas', async () => {
  const checked: Account[] = [];
  let isCertain = true;
  const versions: AccountVersions = {
    async read(account) {
      checked.push(account);
      if (!isCertain) throw new Error('no answer');
      return { epoch: 'one', version: null };
    },
  };
  const world = openAccountWorld({ versions });
  await world.accountReads.catchUp(accountNamed('another'));
  checked.length = 0;
  await fetchWith(1, world);
  // The first read made a call, and no check.
  expect(checked).toEqual([]);
  expect((await world.sessions.read(demo)).session.balance).toBe(1);
  expect(checked).toEqual(['1001']);
  isCertain = false;
  const again = world.sessions.read(demo);
  await world.clock.advance(0);
  expect(world.calls).toHaveLength(2);
  world.calls[1]?.answer(snapshot(2));
  expect((await again).session.balance).toBe(2);
});

test('a snapshot is not served if a later list of positions contradicts it', async () => {
  const world = openAccountWorld();
  const early = world.sessions.read(demo);
  // The token is not proved yet, so its positions count only for itself.
  const positions = world.gateway.getOpenPositions(demo, null);
  world.calls[1]?.answer(listOf('a'));
  await positions;
  world.calls[0]?.answer(snapshot(1));
  await early;
  expect(world.sessions.cached(demo)).toBeNull();
  const late = world.sessions.read(demo);
  world.calls[2]?.answer(snapshot(2, ['a']));
  await late;
  expect(world.sessions.cached(demo)?.session.balance).toBe(2);

  // Another token of the account is proved, so its list of positions counts for all tokens.
  const other = viewerOf('other');
  const proving = world.sessions.read(other);
  world.calls[3]?.answer(snapshot(3, ['a']));
  await proving;
  const seen = world.gateway.getOpenPositions(other, null);
  world.calls[4]?.answer(listOf());
  await seen;
  expect(world.sessions.cached(demo)).toBeNull();
});
