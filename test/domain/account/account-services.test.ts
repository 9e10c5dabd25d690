import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { AccountEvents } from '../../../src/domain/account/account-events.ts';
import {
  type AccountServicesParts,
  createAccountServices,
} from '../../../src/domain/account/account-services.ts';
import type { SessionAnswer } from '../../../src/gateway/answers.ts';
import type { AccountVersion } from '../../../src/store/account-versions.ts';
import { Follower } from '../positions/follower.ts';
import { viewerOf } from '../viewer.ts';
import { openAccountWorld, snapshot } from './account-world.ts';

const demo = viewerOf('demo');

/** An account whose snapshot is in memory, and whose positions a feed has just polled. */
async function open() {
  const { prover: _prover, sessions: _sessions, ...world } = openAccountWorld();
  const accounts: AccountEvents = new EventEmitter();
  const state: { stored: AccountVersion | null } = { stored: { epoch: 'a', version: null } };
  const counted: string[] = [];
  const count = (name: string) => ({
    add: (by: unknown = 1) => void counted.push(`${name} ${by}`),
  });
  const { hub, sessions, ...services } = createAccountServices({
    ...{ ...world, accounts, log: { error() {} } },
    stores: {
      accountVersions: { read: async () => state.stored ?? Promise.reject(new Error('away')) },
    },
    metrics: {
      sessionReads: count('read'),
      events: { delivered: count('delivered'), merged: count('merged') },
    },
    settings: {
      ...{ sessionMaxAgeSeconds: 60, positionsPollMs: 60_000, positionsPollMaxMs: 60_000 },
      ...{ gatewayPollsPerSecond: 100, gatewayTimeoutMs: 5_000 },
    },
    cacheBytes: { catalogs: 1e6, sessions: 1e6, positions: 1e6 },
  } as unknown as AccountServicesParts);
  const { clock, calls } = world;
  const answer = async (body: unknown) => {
    await clock.advance(0);
    calls.at(-1)?.answer(body);
    await clock.advance(0);
  };
  // Before the first answer of the store any account may have changed.
  await services.catchUp('1001');
  const proving = services.prover.account(demo);
  await answer(snapshot(1, ['a']));
  const proof = await proving;
  new Follower(hub.watchPositions(proof, demo));
  await answer({ positions: [{ id: 'a', symbol: 'AAPL' }] });
  expect(counted).toEqual(['read call', 'delivered 1', 'merged 0']);
  return {
    ...{ accounts, calls, clock, state, services },
    /** What is in memory, and the calls so far. */
    known: () => [sessions.cached(demo) !== null, hub.current(proof) !== null, calls.length],
  };
}

test('all that remembers an account hears of its change, and its feed is polled; and of one that any may have', async () => {
  const one = await open();
  expect(one.known()).toEqual([true, true, 2]);
  one.accounts.emit('changed', '1001');
  await one.clock.advance(0);
  expect(one.known()).toEqual([false, false, 3]);
  const any = await open();
  any.accounts.emit('anyChanged');
  await any.clock.advance(0);
  expect(any.known()).toEqual([false, false, 2]);
});

test('a snapshot with other positions has the feed polled, and counts in the agreement of the two lists', async () => {
  const { accounts, clock, known, services } = await open();
  const times = { logicalTime: 1_000, sentAtMs: clock.now(), receivedAtMs: clock.now() };
  const positions = { ids: ['b'], units: [1], rows: [{ id: 'b' }] };
  accounts.emit('positionsAnswered', demo, { ...times, positions: [], bytes: Buffer.of() });
  expect(services.lists.counts()).toEqual({ agree: 0, differ: 0 });
  accounts.emit('snapshotAnswered', demo, {
    ...times,
    session: { positions },
  } as unknown as SessionAnswer);
  await clock.advance(0);
  expect(services.lists.counts()).toEqual({ agree: 1, differ: 0 });
  expect(known()[2]).toBe(3);
});

test('while nobody can tell whether another replica has changed an account, it counts as changed', async () => {
  const { accounts, state, services } = await open();
  const heard: string[] = [];
  accounts.on('changed', (account) => void heard.push(account));
  await services.catchUp('1001');
  expect(heard).toEqual([]);
  state.stored = null;
  await services.catchUp('1001');
  expect(heard).toEqual(['1001']);
});
