import { expect, test } from 'vitest';
import { startedOnce } from '../../../test/support/started.ts';
import { playLists, playTickets } from './histories.ts';
import { startOrderService } from './order-service.ts';

// In full: npm run soak -- vectors
const service = startedOnce(startOrderService);

test('a list is the server’s whatever is merged, doubled, late, lost or cut', async () => {
  expect((await playLists({ seed: 7, times: 1_000 })).difference).toBeNull();
});

test('what is said of an order is what the gateway’s book has, whatever is lost, late, killed or set wrongly', async () => {
  expect((await playTickets(service, { seed: 7, times: 100 })).difference).toBeNull();
});
