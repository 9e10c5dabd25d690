import { expect, test } from 'vitest';
import { createDomain, type DomainParts } from '../../src/domain/create-domain.ts';
import { DomainMetrics } from '../../src/domain/domain-metrics.ts';
import { MetricsRegistry } from '../../src/lib/metrics-registry.ts';
import type { AccountVersion } from '../../src/store/shared-store.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLimiter } from '../support/limits.ts';
import { listOf, openAccountWorld, snapshot } from './account/account-world.ts';
import { Follower } from './feed/follower.ts';
import { viewerOf } from './viewer.ts';

/** So long that no poll of the feed is due during the test. */
const POLL_MS = 60_000;

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
      positionsPollMs: POLL_MS,
      gatewayPollsPerSecond: 100,
      gatewayTimeoutMs: 5_000,
      gatewayLoginClaim: 'login',
      gatewayGroupClaim: 'group',
      gatewayForwardHeaders: [],
    },
    cacheBytes: { catalogs: 1e6, sessions: 1e6, positions: 1e6 },
    verify: null,
  } as unknown as DomainParts);
  const answerCall = async (number: number, body: unknown) => {
    await eventually(() => expect(calls).toHaveLength(number));
    calls.at(-1)?.answer(body);
  };
  const demo = viewerOf('demo');
  const proving = domain.prover.account(demo);
  await answerCall(1, snapshot(1, ['a']));
  const proof = await proving;
  const follower = new Follower(domain.openPositions.watch(proof, demo));
  await answerCall(2, listOf('a'));
  await eventually(() => expect(follower.events).toHaveLength(1));
  await domain.catchUp(proof);
  expect(calls).toHaveLength(2);
  // Without the store, another replica may have changed the account.
  store.answer = new Error('Redis is away');
  await domain.catchUp(proof);
  await eventually(() => expect(calls).toHaveLength(3));
  expect(calls.at(-1)?.operation).toBe('getOpenPositions');
  domain.openPositions.close();
});
