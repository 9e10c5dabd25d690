import { expect, test } from 'vitest';
import { inFull } from '../../support/in-full.ts';
import { runOrders } from './order-run.ts';

const RUNS = inFull(20_000, 200);

test('after random events, no order is sent twice and all clients receive the same outcome', async () => {
  // Throws at a broken rule. With fewer orders the runs would test nothing.
  expect(await runOrders(RUNS, 20_260_901)).toBeGreaterThan(RUNS);
}, 3_600_000);
