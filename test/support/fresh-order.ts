import { setTimeout as delay } from 'node:timers/promises';
import { buying, openOrderCore } from '../../client/test/support/phone.ts';
import type { Sandbox } from '../../src/sandbox/start.ts';
import { eventually } from './eventually.ts';

/** How long after a loss of records the client's new orders may be refused. */
export const FRESH_WITHIN_MS = 10_000;
/** The pause until a user taps again. */
const BETWEEN_MS = 1_000;

/**
 * Places orders with the client until an order is accepted, and resolves with the number of refused orders. After a
 * loss of records, the service refuses orders for some seconds, without sending them.
 */
export async function freshOrderTaken(
  url: string,
  sandbox: Sandbox,
  email = 'demo@example.com',
): Promise<number> {
  const token = sandbox.token({ email });
  const { core, orders } = openOrderCore({ url, token: () => token });
  let refused = 0;
  const isTaken = async () => {
    const outcome = await orders.ticket().place(buying(`fresh, after ${refused}`));
    if (outcome.status === 'accepted') return true;
    if (outcome.status !== 'unsent') throw new Error(`A fresh order is ${outcome.status}`);
    refused += 1;
    await delay(BETWEEN_MS);
    throw outcome.error;
  };
  try {
    await eventually(isTaken, { withinMs: FRESH_WITHIN_MS });
    return refused;
  } finally {
    core.dispose();
  }
}
