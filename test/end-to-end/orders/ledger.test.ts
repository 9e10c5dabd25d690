import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { inFull } from '../../support/in-full.ts';
import type { LedgerReport, ReplyCounts, Variety } from './ledger-run.ts';
import { rehearseWithRedis, rehearseWithSqlite } from './ledger-world.ts';

const SEED = 20_260_901;
const STEPS = inFull(1_800, 300);

/** The run proves something only where each of these occurred often; a busy machine needs more steps for it. */
const MIN_REPLIES: readonly (readonly [least: number, ...kinds: string[]])[] = [
  [STEPS / 6, 'OrderAccepted'],
  [STEPS / 40, 'OrderRejected'],
  [STEPS / 40, 'OrderOutcomeUnknown'],
  [STEPS / 40, 'BAD_USER_INPUT'],
  [STEPS / 100, 'RATE_LIMITED', 'FORBIDDEN', 'UNAUTHENTICATED'],
  [STEPS / 40, 'cut'],
  [STEPS / 100, 'VOIDED'],
  [STEPS / 60, 'EXPIRED'],
];
const MIN_UNANSWERED = STEPS / 400;
const REHEARSAL = {
  seed: SEED,
  steps: STEPS,
  // One more than the report needs: a key that is repeated meanwhile may get its outcome.
  isVaried: ({ replies, unanswered }: Variety) =>
    missingFrom(replies).length === 0 && unanswered > MIN_UNANSWERED + 1,
};

/** The kinds of replies that have not occurred often enough. */
function missingFrom(replies: ReplyCounts): readonly (readonly [number, ...string[]])[] {
  return MIN_REPLIES.filter(([least, ...kinds]) => {
    const count = kinds.reduce((sum, kind) => sum + (replies.get(kind) ?? 0), 0);
    return count <= least;
  });
}

function expectVariety({ stories, replies, unanswered }: LedgerReport) {
  expect(missingFrom(replies)).toEqual([]);
  expect(stories.length).toBeGreaterThan(STEPS / 3);
  expect(unanswered).toBeGreaterThan(MIN_UNANSWERED);
}

test('two processes with one file: after faults, kills and restarts both ledgers agree', async () => {
  const report = await rehearseWithSqlite(REHEARSAL);
  expect(report.contradictions).toEqual([]);
  expectVariety(report);
}, 600_000);

describeWithRedis('two replicas with Redis', (redisServerPath) => {
  test('after faults, kills and restarts of all three, both ledgers agree', async () => {
    const report = await rehearseWithRedis(redisServerPath, REHEARSAL);
    expect(report.contradictions).toEqual([]);
    expectVariety(report);
  }, 600_000);
});
