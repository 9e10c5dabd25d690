import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { inFull } from '../../support/in-full.ts';
import type { LedgerReport, ReplyCounts } from './ledger-run.ts';
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
const REHEARSAL = {
  ...{ seed: SEED, steps: STEPS },
  isVaried: (replies: ReplyCounts) => missingFrom(replies).length === 0,
};

/** The kinds of replies that have not occurred often enough. */
function missingFrom(replies: ReplyCounts): readonly (readonly [number, ...string[]])[] {
  return MIN_REPLIES.filter(([least, ...kinds]) => {
    const count = kinds.reduce((sum, kind) => sum + (replies.get(kind) ?? 0), 0);
    return count <= least;
  });
}

function expectVariety({ stories, replies }: LedgerReport) {
  expect(missingFrom(replies)).toEqual([]);
  expect(stories.length).toBeGreaterThan(STEPS / 3);
  const unanswered = stories.filter(
    ({ page, applied }) =>
      applied.length > 0 && page.exchanges.every(({ reply }) => reply.kind !== 'outcome'),
  );
  expect(unanswered.length).toBeGreaterThan(STEPS / 400);
}

test('two processes with one file: after faults, kills and restarts both ledgers agree', async () => {
  const report = await rehearseWithSqlite(REHEARSAL);
  expect(report.contradictions).toEqual([]);
  expectVariety(report);
}, 300_000);

describeWithRedis('two replicas with Redis', (redisServerPath) => {
  test('after faults, kills and restarts of all three, both ledgers agree', async () => {
    const report = await rehearseWithRedis(redisServerPath, REHEARSAL);
    expect(report.contradictions).toEqual([]);
    expectVariety(report);
  }, 300_000);
});
