import { expect, test } from 'vitest';
import { type RehearsalCounts, rehearse } from './order-rehearsal.ts';

// The full form: ORDER_TICKETS=1000 ORDER_SEEDS=1-5 CI=true npm test -- client/test/orders/faults.test.ts
const TICKETS = Number(process.env.ORDER_TICKETS ?? 120);
/** A range such as `1-5`, or one. */
const [FIRST = 1, LAST = FIRST] = (process.env.ORDER_SEEDS ?? '20261120').split('-').map(Number);
const SEEDS = Array.from({ length: LAST - FIRST + 1 }, (_, at) => FIRST + at);

/** The run proves something only where each of these occurred. */
function isVaried({ statuses, resumed, kills, offline }: RehearsalCounts): boolean {
  const atLeast = (status: string, least: number) => (statuses[status] ?? 0) > least;
  return (
    atLeast('accepted', TICKETS / 3) &&
    atLeast('rejected', 0) &&
    atLeast('unknown', TICKETS / 60) &&
    atLeast('unsent', TICKETS / 20) &&
    resumed > TICKETS / 20 &&
    kills > 0 &&
    offline > TICKETS / 10
  );
}

// Waits dominate, so that the runs go on beside each other.
test.concurrent.each(SEEDS)(
  `of seed %i ${TICKETS} tickets become at most one order each, what is said of them is true, and none is left open without a reason`,
  async (seed) => {
    const report = await rehearse(TICKETS, seed, isVaried);
    const { contradictions, byFault, ...counts } = report;
    console.log(seed, counts);
    expect(contradictions).toEqual([]);
    expect(counts).toSatisfy(isVaried);
    for (const { tickets } of byFault.values()) expect(tickets).toBeGreaterThan(0);
  },
  600_000,
);
