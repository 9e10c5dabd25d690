import { expect, test } from 'vitest';
import { inFull } from '../../support/in-full.ts';
import { runOrders } from './order-run.ts';

const RUNS = inFull(20_000, 200);

test('after random events, no order is sent twice and all clients receive the same outcome', async () => {
  // Throws at a broken rule. With fewer orders the runs would test nothing.
  expect(await runOrders(RUNS, 20_260_901)).toBeGreaterThan(RUNS);
}, 3_600_000);

// The records are lost between two processes that measure the gateway's clock half a second early and late.
test('a key that one process took is not new, nor ahead, to one that measures an earlier time', async () => {
  expect(await runOrders(100, 1_700_016)).toBeGreaterThan(100);
});
