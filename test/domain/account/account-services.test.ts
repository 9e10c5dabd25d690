import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AccountEvents } from '../../../src/domain/account/account-events.ts';
import { createAccountFreshness } from '../../../src/domain/account/account-freshness.ts';
import { createAccountServices } from '../../../src/domain/account/account-services.ts';
import type { DomainParts } from '../../../src/domain/domain-parts.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import type { AccountVersion } from '../../../src/store/shared-store.ts';
import { accountNamed } from '../../support/accounts.ts';
import { eventually } from '../../support/eventually.ts';
import { Follower } from '../feed/follower.ts';
import { viewerOf } from '../viewer.ts';
import { openAccountWorld, snapshot } from './account-world.ts';

const demo = viewerOf('demo');

/** An account whose snapshot is in memory, and whose positions a feed has just polled. */
async function open() {
  const { calls, gateway, ledger, logicalClock } = openAccountWorld();
  const accounts: AccountEvents = new EventEmitter();
  const state: { stored: AccountVersion | null } = { stored: { epoch: 'a', version: null } };
  const counted: string[] = [];
  const count = (name: string) => ({
    add: (by: unknown = 1) => void counted.push(`${name} ${by}`),
  });
  const parts = {
    logicalClock,
    log: { error() {} },
    stores: {
      replicas: {
        accountVersions: { read: async () => state.stored ?? Promise.reject(new Error('away')) },
      },
    },
    metrics: {
      sessionReads: count('read'),
      polls: count('poll'),
      events: { delivered: count('delivered'), merged: count('merged') },
    },
    settings: {
      sessionMaxAgeSeconds: 60,
      positionsPollMs: 60_000,
      gatewayPollsPerSecond: 100,
      gatewayTimeoutMs: 5_000,
    },
    cacheBytes: { catalogs: 1e6, sessions: 1e6, positions: 1e6 },
  } as unknown as DomainParts;
  const { feeds, sessions, ...services } = createAccountServices(parts, accounts, gateway, ledger);
  const answer = async (body: unknown, call: number) => {
    await eventually(() => expect(calls).toHaveLength(call));
    calls.at(-1)?.answer(body);
  };
  // Before the first answer of the store any account may have changed.
  await services.catchUp(accountNamed('1001'));
  const proving = services.prover.account(demo);
  await answer(snapshot(1, ['a']), 1);
  const proof = await proving;
  const follower = new Follower(feeds.watchPositions(proof, demo));
  await answer({ positions: [{ id: 'a', symbol: 'AAPL' }] }, 2);
  await eventually(() => expect(follower.events).toHaveLength(1));
  expect(counted).toEqual(['read call', 'delivered 1', 'merged 0', 'poll changed']);
  return {
    accounts,
    calls,
    state,
    services,
    /** Whether session and list are in memory, and the calls so far. */
    known: () => [sessions.cached(demo) !== null, feeds.current(demo) !== null, calls.length],
  };
}

test('all that remembers an account hears of its change, and its feed is polled; and of one that any may have', async () => {
  const one = await open();
  expect(one.known()).toEqual([true, true, 2]);
  one.accounts.emit('changed', accountNamed('1001'));
  await eventually(() => expect(one.known()).toEqual([false, false, 3]));
  const any = await open();
  any.state.stored = { epoch: 'b', version: null };
  await any.services.catchUp(accountNamed('1001'));
  await turn();
  expect(any.known()).toEqual([false, false, 2]);
});

test('while nobody can tell whether another replica has changed an account, it counts as changed', async () => {
  const { accounts, state, services } = await open();
  const heard: string[] = [];
  accounts.on('changed', (account) => void heard.push(account));
  await services.catchUp(accountNamed('1001'));
  expect(heard).toEqual([]);
  state.stored = null;
  await services.catchUp(accountNamed('1001'));
  expect(heard).toEqual(['1001']);
});

/** The answer of a store, or its failure. */
type Stored = AccountVersion | Error;

test('an order of another replica is told once, the end of its record too, and what a store has lost may be of any account', async () => {
  const told: string[] = [];
  let stored: Stored = new Error('not asked yet');
  const accounts: AccountEvents = new EventEmitter();
  const logicalClock = new LogicalClock();
  const freshness = createAccountFreshness(accounts, logicalClock, {
    async read() {
      if (stored instanceof Error) throw stored;
      return stored;
    },
  });
  accounts.on('changed', (login) => void told.push(login));
  /** Whether account 1 is certain and what is told of it; `any` where what was asked for of others is outdated as well. */
  const steps: [Stored, ...unknown[]][] = [
    // While the store cannot be read nothing is certain, and nothing is told.
    [new Error('away'), false],
    // The first answer may follow orders of which nobody has told this process.
    [{ epoch: 'a', version: null }, true, 'any'],
    [{ epoch: 'a', version: null }, true],
    [new Error('away'), false],
    [{ epoch: 'a', version: 'v1' }, true, '1'],
    [{ epoch: 'a', version: 'v1' }, true],
    [{ epoch: 'a', version: 'v2' }, true, '1'],
    [{ epoch: 'a', version: null }, true, '1'],
    [{ epoch: 'a', version: null }, true],
    [{ epoch: 'a', version: 'v3' }, true, '1'],
    [{ epoch: 'b', version: 'v3' }, true, 'any', '1'],
    [{ epoch: 'c', version: null }, true, 'any'],
  ];
  for (const [at, [next, ...expected]] of steps.entries()) {
    stored = next;
    const askedAt = logicalClock.next();
    const isCertain = await freshness.catchUp(accountNamed('1'));
    if (freshness.changedAt(accountNamed('other')) > askedAt) told.unshift('any');
    expect(freshness.changedAt(accountNamed('1')) > askedAt).toBe(told.length > 0);
    expect([isCertain, ...told.splice(0)], `step ${at}`).toEqual(expected);
  }
  expect(freshness.byteSize).toBe(0);
});
