import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { inFull } from '../../support/in-full.ts';
import type { LedgerReport } from './ledger-run.ts';
import { rehearseWithRedis, rehearseWithSqlite } from './ledger-world.ts';

const SEED = 20_260_901;
const STEPS = inFull(1_800, 600);

/** The run proves something only where each of these occurred often. */
function expectVariety({ stories, replies }: LedgerReport) {
  const count = (name: string) => replies.get(name) ?? 0;
  expect(stories.length).toBeGreaterThan(STEPS / 3);
  expect(count('OrderAccepted')).toBeGreaterThan(STEPS / 6);
  expect(count('OrderRejected')).toBeGreaterThan(STEPS / 40);
  expect(count('OrderOutcomeUnknown')).toBeGreaterThan(STEPS / 40);
  expect(count('BAD_USER_INPUT')).toBeGreaterThan(STEPS / 40);
  expect(count('RATE_LIMITED') + count('FORBIDDEN') + count('UNAUTHENTICATED')).toBeGreaterThan(
    STEPS / 100,
  );
  expect(count('cut')).toBeGreaterThan(STEPS / 40);
  const unanswered = stories.filter(
    ({ page, applied }) =>
      applied.length > 0 && page.exchanges.every(({ reply }) => reply.kind !== 'outcome'),
  );
  expect(unanswered.length).toBeGreaterThan(STEPS / 400);
}

test('two processes with one file: after faults, kills and restarts both ledgers agree', async () => {
  const report = await rehearseWithSqlite({ seed: SEED, steps: STEPS });
  expect(report.contradictions).toEqual([]);
  expectVariety(report);
}, 120_000);

describeWithRedis('two replicas with Redis', (redisServerPath) => {
  test('after faults, kills and restarts of all three, both ledgers agree', async () => {
    const report = await rehearseWithRedis(redisServerPath, { seed: SEED, steps: STEPS });
    expect(report.contradictions).toEqual([]);
    expectVariety(report);
  }, 120_000);
});
