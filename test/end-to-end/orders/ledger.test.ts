import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import type { LedgerReport } from './ledger-run.ts';
import { rehearseWithRedis, rehearseWithSqlite } from './ledger-world.ts';

const SEED = 20_260_901;

/** The run proves something only where each of these occurred often. */
function expectVariety({ stories, replies }: LedgerReport) {
  const count = (name: string) => replies.get(name) ?? 0;
  expect(stories.length).toBeGreaterThan(700);
  expect(count('OrderAccepted')).toBeGreaterThan(300);
  expect(count('OrderRejected')).toBeGreaterThan(100);
  expect(count('OrderOutcomeUnknown')).toBeGreaterThan(100);
  expect(count('BAD_USER_INPUT')).toBeGreaterThan(50);
  expect(count('RATE_LIMITED') + count('FORBIDDEN') + count('UNAUTHENTICATED')).toBeGreaterThan(20);
  expect(count('cut')).toBeGreaterThan(50);
  const unanswered = stories.filter(
    ({ page, applied }) =>
      applied.length > 0 && page.exchanges.every(({ reply }) => reply.kind !== 'outcome'),
  );
  expect(unanswered.length).toBeGreaterThan(5);
}

test('two processes with one file: after faults, kills and restarts both ledgers agree', async () => {
  const report = await rehearseWithSqlite({ seed: SEED, steps: 1_800 });
  expect(report.contradictions).toEqual([]);
  expectVariety(report);
}, 120_000);

describeWithRedis('two replicas with Redis', (redisServerPath) => {
  test('after faults, kills and restarts of all three, both ledgers agree', async () => {
    const report = await rehearseWithRedis(redisServerPath, { seed: SEED, steps: 1_500 });
    expect(report.contradictions).toEqual([]);
    expectVariety(report);
  }, 120_000);
});
