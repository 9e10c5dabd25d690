import { expect, test } from 'vitest';
import { rehearse } from './order-rehearsal.ts';

/** `ORDER_TICKETS=1000` for the full form. */
const TICKETS = Number(process.env.ORDER_TICKETS ?? 120);
const SEED = Number(process.env.ORDER_SEED ?? 20_261_120);

test(`${TICKETS} tickets become at most one order each, and what is said of them is true`, async () => {
  const { contradictions, statuses, resumed, kills, offline } = await rehearse(TICKETS, SEED);
  console.log(Object.fromEntries(statuses), { resumed, kills, offline });
  expect(contradictions).toEqual([]);
  // The run proves something only where each of these occurred.
  expect(statuses.get('accepted')).toBeGreaterThan(TICKETS / 3);
  expect(statuses.get('rejected')).toBeGreaterThan(0);
  expect(statuses.get('unknown')).toBeGreaterThan(TICKETS / 20);
  expect(resumed).toBeGreaterThan(TICKETS / 20);
  expect(kills).toBeGreaterThan(0);
  expect(offline).toBeGreaterThan(TICKETS / 10);
  expect(statuses.get('unsent')).toBeGreaterThan(0);
}, 600_000);
