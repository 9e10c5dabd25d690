import type { Core, OwnRequestOptions } from '../core.ts';
import type { TypedText } from '../operation.ts';
import type { Deadline } from '../request/deadline.ts';
import type { AskedKey } from './operations.ts';
import { type OrderAnswer, type OrderOutcome, readAnswer } from './outcome.ts';

/**
 * What the server has recorded for a key, or what came of closing it; null where it has no record. Sends no order.
 * Throws a TradingGraphError where there is no answer in time, or another account is signed in.
 */
export async function askOutcome(
  core: Core,
  operation: TypedText<OrderAnswer, AskedKey>,
  asked: AskedKey,
  time: Deadline,
  // Asked with another account's token, the server has no such key, which would read as an order that never arrived.
  options: OwnRequestOptions & { readonly account: string },
): Promise<OrderOutcome | null> {
  const asking = core.request(operation, asked, { ...options, signal: time.signal });
  return readAnswer(await time.race(asking), asked.key);
}
