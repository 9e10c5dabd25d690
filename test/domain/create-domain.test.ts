import { expect, test } from 'vitest';
import { createDomain, type DomainParts } from '../../src/domain/create-domain.ts';
import { DomainMetrics } from '../../src/domain/domain-metrics.ts';
import { MetricsRegistry } from '../../src/lib/metrics.ts';
import type { AccountVersion } from '../../src/store/shared-store.ts';
import { accountNamed } from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLimiter } from '../support/limits.ts';
import { openAccountWorld, snapshot } from './account/account-world.ts';
import { Follower } from './feed/follower.ts';
import { viewerOf } from './viewer.ts';

const LONG_MS = 60_000;

test('an account that may have changed on another replica is polled at once', async () => {
  const { calls, client, logicalClock } = openAccountWorld();
  const store: { answer: AccountVersion | Error } = { answer: { epoch: 'a', version: null } };
  const read = async () => {
    if (store.answer instanceof Error) throw store.answer;
    return store.answer;
  };
  const knownTokens = { add() {}, delete() {}, has: async () => true };
  const domain = createDomain({
    client,
    logicalClock,
    limiter: createTestLimiter(),
    metrics: new DomainMetrics(new MetricsRegistry()),
    stores: { replicas: { accountVersions: { read }, knownTokens } },
    settings: {
      authProofSeconds: 300,
      sessionMaxAgeSeconds: 60,
      positionsPollMs: LONG_MS,
      gatewayPollsPerSecond: 100,
      gatewayTimeoutMs: 5_000,
      gatewayLoginClaim: 'login',
      gatewayGroupClaim: 'group',
      gatewayForwardHeaders: [],
    },
    cacheBytes: { catalogs: 1e6, sessions: 1e6, positions: 1e6 },
    verify: null,
  } as unknown as DomainParts);
  const answer = async (body: unknown, call: number) => {
    await eventually(() => expect(calls).toHaveLength(call));
    calls.at(-1)?.answer(body);
  };
  const demo = viewerOf('demo');
  const proving = domain.prover.account(demo);
  await answer(snapshot(1, ['a']), 1);
  const follower = new Follower(domain.feeds.watch(await proving, demo));
  await answer({ positions: [{ id: 'a', symbol: 'AAPL' }] }, 2);
  await eventually(() => expect(follower.events).toHaveLength(1));
  await domain.catchUp(accountNamed('1001'));
  expect(calls).toHaveLength(2);
  store.answer = new Error('Redis is away');
  await domain.catchUp(accountNamed('1001'));
  await eventually(() => expect(calls).toHaveLength(3));
  expect(calls.at(-1)?.operation).toBe('getOpenPositions');
  domain.feeds.close();
});
