import { expect, test } from 'vitest';
import { inFull } from '../../../test/support/in-full.ts';
import { type RehearsalCounts, rehearse } from './order-rehearsal.ts';

const TICKETS = inFull(2_000, 120);

/** The run proves something only where each of these occurred. */
function isVaried({ statuses, resumed, kills }: RehearsalCounts): boolean {
  const atLeast = (status: string, least: number) => (statuses[status] ?? 0) > least;
  return (
    atLeast('accepted', TICKETS / 3) &&
    atLeast('rejected', 0) &&
    atLeast('unknown', TICKETS / 60) &&
    atLeast('unsent', TICKETS / 20) &&
    resumed > TICKETS / 20 &&
    kills > 0
  );
}

test(`${TICKETS} tickets become at most one order each, what is said of them is true, and none is left open without a reason`, async () => {
  const report = await rehearse(TICKETS, 20261120, isVaried);
  expect(report.contradictions).toEqual([]);
  expect(report).toSatisfy(isVaried);
}, 600_000);
