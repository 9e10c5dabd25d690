import type { OwnRequestOptions } from '../core.ts';
import type { TypedText } from '../operation.ts';
import type { Deadline } from '../request/deadline.ts';
import { type AskedKey, VOID_ORDER } from './operations.ts';
import { type OrderAnswer, type OrderOutcome, readAnswer, unsentCode } from './outcome.ts';
import type { TicketContext } from './ticket-context.ts';

/**
 * The request names the account. With another account's token the server would not find the key, as if the order had never
 * arrived.
 */
type AskOptions = OwnRequestOptions & { readonly account: string };

/**
 * Sends an operation that reads or closes a key, and returns the outcome that the server has recorded; null if there is
 * none. It sends no order. Throws a TradingGraphError if no answer comes in time, or another account is signed in.
 */
export async function askOutcome(
  { core }: TicketContext,
  operation: TypedText<OrderAnswer, AskedKey>,
  asked: AskedKey,
  time: Deadline,
  options: AskOptions,
): Promise<OrderOutcome | null> {
  const asking = core.request(operation, asked, { ...options, signal: time.signal });
  return readAnswer(await time.race(asking), asked.key);
}

/**
 * Closes the key, or returns the outcome of its order. `EXPIRED` or an unknown reason does not prove that nothing was sent.
 * If the server has lost the record of the order, it answers a late repeat in the same way. So a new key with the same date
 * is closed as well, which throws if the server's records do not reach back to that date.
 */
export async function closeKey(
  context: TicketContext,
  asked: AskedKey,
  time: Deadline,
  options: AskOptions,
): Promise<OrderOutcome | null> {
  const outcome = await askOutcome(context, VOID_ORDER, asked, time, options);
  const code = unsentCode(outcome);
  if (code !== null && code !== 'VOIDED' && code !== 'SETTLED') {
    const probe = { ...asked, key: context.core.environment.randomId() };
    await askOutcome(context, VOID_ORDER, probe, time, options);
  }
  return outcome;
}
