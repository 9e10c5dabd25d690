import { expect, test } from 'vitest';
import { soak } from './soak.ts';

// The outcomes that the contract allows with and without a network fault, and past the limits of small writes.
const NAMED =
  /^(data|Acknowledged|Rejected|LoginSuccess|Order(Accepted|Rejected|OutcomeUnknown)|GATEWAY_(UNAVAILABLE|TIMEOUT)|OUTCOME_UNKNOWN|RATE_LIMITED)$/;

// `scripts/soak-chaos.ts` runs it for ten minutes.
test('the heap after many storms of each kind is as large as after the first', async () => {
  const { beforeBytes, afterBytes, said } = await soak({ forMs: 8_000, leastAnswers: 300 });
  expect([...said.keys()].filter((what) => !NAMED.test(what))).toEqual([]);
  expect(afterBytes).toBeLessThan(beforeBytes * 1.1);
}, 600_000);
