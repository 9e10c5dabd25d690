import type { Core } from '../core.ts';
import type { Deadline } from '../request/deadline.ts';
import { PLACED_ORDER } from './operations.ts';
import { type OrderOutcome, type OrderUnsent, readAnswer } from './outcome.ts';

/**
 * The outcome that the server has recorded for a key; null where it has no record. Sends no order. Throws a
 * TradingGraphError where there is no answer in time, or another account is signed in.
 */
export async function askOutcome(
  core: Core,
  { account, key }: { readonly account: string; readonly key: string },
  deadline: Deadline,
): Promise<Exclude<OrderOutcome, OrderUnsent> | null> {
  // Asked with another account's token, the server has no such key, which would read as an order that never arrived.
  const asking = core.request(PLACED_ORDER, { key }, { signal: deadline.signal, account });
  return readAnswer(await deadline.race(asking), key);
}
