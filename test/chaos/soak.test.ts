import { expect, test } from 'vitest';
import { soak } from './soak.ts';

// What the contract has for operations whose network fails, and for those it lets through.
const NAMED =
  /^(data|Acknowledged|Rejected|LoginSuccess|Order(Accepted|Rejected|OutcomeUnknown)|GATEWAY_(UNAVAILABLE|TIMEOUT)|OUTCOME_UNKNOWN)$/;

// The ten minutes of it: `scripts/soak-chaos.ts`.
test('after more storms of each kind as much is held as after the first', async () => {
  const { beforeBytes, afterBytes, said, answers } = await soak({ forMs: 8_000 });
  expect([...said.keys()].filter((what) => !NAMED.test(what))).toEqual([]);
  expect(answers).toBeGreaterThan(300);
  expect(afterBytes).toBeLessThan(beforeBytes * 1.1);
}, 240_000);
