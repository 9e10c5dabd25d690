import { expect, test } from 'vitest';
import type { ClientKey } from '../../../src/domain/auth/client-key.ts';
import { CostQuota } from '../../../src/plugins/cost/cost-quota.ts';
import { createMemoryRateCounters } from '../../../src/store/memory/rate-counters.ts';

const ACCOUNT: ClientKey = { kind: 'account', key: 'account 1' };
const OTHER: ClientKey = { kind: 'account', key: 'account 2' };

function setUp(fieldsPerMinute = 1_000) {
  let nowMs = 0;
  const uptimeMs = () => nowMs;
  const counters = createMemoryRateCounters({ uptimeMs });
  return {
    quota: new CostQuota({ counters, fieldsPerMinute, uptimeMs }),
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('a client is refused once its minute is used up, until the minute is over', () => {
  const { quota, advance } = setUp();
  quota.charge(ACCOUNT, 1_000);
  expect(quota.refusal(ACCOUNT)).toBeNull();
  quota.charge(ACCOUNT, 10);
  expect(quota.refusal(ACCOUNT)?.errors[0]?.extensions).toMatchObject({
    code: 'RATE_LIMITED',
    retryAfter: 60,
  });
  expect(quota.refusal(OTHER)).toBeNull();
  advance(59_500);
  expect(quota.refusal(ACCOUNT)?.headers).toMatchObject({ 'retry-after': '1' });
  advance(600);
  expect(quota.refusal(ACCOUNT)).toBeNull();
});

test('many small answers count like a large one', () => {
  const { quota } = setUp();
  for (let at = 0; at < 250; at += 1) quota.charge(ACCOUNT, 4);
  expect(quota.refusal(ACCOUNT)).toBeNull();
  for (let at = 0; at < 5; at += 1) quota.charge(ACCOUNT, 4);
  expect(quota.refusal(ACCOUNT)).not.toBeNull();
});
