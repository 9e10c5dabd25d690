import { expect, test } from 'vitest';
import { seedsOf } from '../support/seeds.ts';
import { rehearse } from './order-rehearsal.ts';

// The full form: ORDER_TICKETS=1000 ORDER_SEEDS=1-5 CI=true npm test -- client/test/orders/faults.test.ts
const TICKETS = Number(process.env.ORDER_TICKETS ?? 120);
const SEEDS = seedsOf(process.env.ORDER_SEEDS ?? '20261120');

// Waits dominate, so that the runs go on beside each other.
test.concurrent.each(SEEDS)(
  `of seed %i ${TICKETS} tickets become at most one order each, and what is said of them is true`,
  async (seed) => {
    const { contradictions, statuses, resumed, kills, offline } = await rehearse(TICKETS, seed);
    console.log(seed, Object.fromEntries(statuses), { resumed, kills, offline });
    expect(contradictions).toEqual([]);
    // The run proves something only where each of these occurred.
    expect(statuses.get('accepted')).toBeGreaterThan(TICKETS / 3);
    expect(statuses.get('rejected')).toBeGreaterThan(0);
    expect(statuses.get('unknown')).toBeGreaterThan(TICKETS / 20);
    expect(resumed).toBeGreaterThan(TICKETS / 20);
    expect(kills).toBeGreaterThan(0);
    expect(offline).toBeGreaterThan(TICKETS / 10);
    expect(statuses.get('unsent')).toBeGreaterThan(0);
  },
  600_000,
);
