import { expect, test } from 'vitest';
import { rollingRestart } from '../../../scripts/soak-replicas/rolling.ts';
import { describeWithHaproxy } from '../../support/describe-with.ts';

const ACCOUNTS = 50;
/** The balancer notices that a replica drains in 1.3 s, and on a busy machine in several. */
const DELAY_MS = 8_000;
/** It takes 40 s on a machine of its own. */
const MOST_MS = 180_000;

describeWithHaproxy('a rolling restart of three replicas', (haproxyPath) => {
  test('fails no request, leaves no list behind the gateway and makes hardly more polls', {
    timeout: MOST_MS,
  }, async () => {
    const { failures, polls, ...result } = await rollingRestart({
      ...{ haproxyPath, accounts: ACCOUNTS, socketsPerAccount: 6 },
      ...{ pollMs: 2_000, requestsPerSecond: 40, delayMs: DELAY_MS, aroundMs: 1_000 },
    });
    expect(failures).toEqual([]);
    expect(result).toMatchObject({ sockets: 6 * ACCOUNTS, gaps: 0, stretch: 1 });
    expect(result.closed).toBeGreaterThan(0);
    // Sockets that go anywhere would have each account polled by 2.7 replicas all the time.
    expect(result.pollsPerAccount).toBeLessThan(2);
    expect(Math.min(...polls)).toBeGreaterThan(0);
  });
});
