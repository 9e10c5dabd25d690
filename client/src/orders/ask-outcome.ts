import type { OwnRequestOptions } from '../core.ts';
import type { TypedText } from '../operation.ts';
import type { Deadline } from '../request/deadline.ts';
import type { AskedKey } from './operations.ts';
import { type OrderAnswer, type OrderOutcome, readAnswer } from './outcome.ts';
import type { TicketContext } from './ticket-context.ts';

/**
 * The request names the account. With another account's token the server would not find the key, as if the order had never
 * arrived.
 */
type AskOptions = OwnRequestOptions & { readonly account: string };

/**
 * Sends an operation that reads or closes a key, and returns the outcome that the server has recorded; null if there is
 * none. It sends no order. Throws a TradingGraphError if no answer comes in time, another account is signed in, or the
 * server's records do not reach back to the time of the key. So each outcome is that of all requests with the key.
 */
export async function askOutcome(
  { core }: TicketContext,
  operation: TypedText<OrderAnswer, AskedKey>,
  key: string,
  time: Deadline,
  options: AskOptions,
): Promise<OrderOutcome | null> {
  const asking = core.request(operation, { key }, { ...options, signal: time.signal });
  return readAnswer(await time.race(asking), key);
}
