import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { AccountEvents } from '../../src/domain/account/account-events.ts';
import { createAccountServices } from '../../src/domain/account-services.ts';
import type { DomainParts } from '../../src/domain/domain-parts.ts';
import type { AccountVersion } from '../../src/store/shared-store.ts';
import { accountNamed } from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { openAccountWorld, snapshot } from './account/account-world.ts';
import { Follower } from './feed/follower.ts';
import { viewerOf } from './viewer.ts';

const demo = viewerOf('demo');
const account = accountNamed('1001');
const LONG_MS = 60_000;

/** The services over calls that a test answers, and a store of versions that may fail. */
function open() {
  const { calls, gateway, ledger, logicalClock } = openAccountWorld();
  const accounts: AccountEvents = new EventEmitter();
  const store: { answer: AccountVersion | Error } = { answer: { epoch: 'a', version: null } };
  const read = async () => {
    if (store.answer instanceof Error) throw store.answer;
    return store.answer;
  };
  const parts = {
    logicalClock,
    log: { error() {} },
    stores: { replicas: { accountVersions: { read } } },
    settings: {
      sessionMaxAgeSeconds: 60,
      positionsPollMs: LONG_MS,
      gatewayPollsPerSecond: 100,
      gatewayTimeoutMs: 5_000,
    },
    cacheBytes: { catalogs: 1e6, sessions: 1e6, positions: 1e6 },
  } as unknown as DomainParts;
  return {
    accounts,
    calls,
    store,
    services: createAccountServices(parts, accounts, gateway, ledger),
  };
}

test('an order that may have changed an account has its feed polled long before the interval is over', async () => {
  const { accounts, calls, services } = open();
  const answer = async (body: unknown, call: number) => {
    await eventually(() => expect(calls).toHaveLength(call));
    calls.at(-1)?.answer(body);
  };
  const proving = services.prover.account(demo);
  await answer(snapshot(1, ['a']), 1);
  const follower = new Follower(services.feeds.watchPositions(await proving, demo));
  await answer({ positions: [{ id: 'a', symbol: 'AAPL' }] }, 2);
  await eventually(() => expect(follower.events).toHaveLength(1));
  accounts.emit('changed', account);
  await eventually(() => expect(calls).toHaveLength(3));
  expect(calls.at(-1)?.operation).toBe('getOpenPositions');
  services.feeds.close();
});

test('while the versions cannot be read, an account counts as changed', async () => {
  const { accounts, store, services } = open();
  await services.catchUp(account);
  const changed: string[] = [];
  accounts.on('changed', (each) => void changed.push(each));
  await services.catchUp(account);
  expect(changed).toEqual([]);
  store.answer = new Error('Redis is away');
  await services.catchUp(account);
  expect(changed).toEqual([account]);
});
