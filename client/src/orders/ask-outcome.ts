import type { OwnRequestOptions } from '../core.ts';
import type { TypedText } from '../operation.ts';
import type { Deadline } from '../request/deadline.ts';
import { type AskedKey, VOID_ORDER } from './operations.ts';
import { type OrderAnswer, type OrderOutcome, readAnswer, unsentCode } from './outcome.ts';
import type { TicketContext } from './ticket-context.ts';

/**
 * The account is named, because the server has no such key for another account's token, which would look like an order that
 * never arrived.
 */
type AskOptions = OwnRequestOptions & { readonly account: string };

/**
 * Asks what the server has recorded for a key, or closes it; null if it has no record. It sends no order. Throws a
 * TradingGraphError if no answer comes in time, or another account is signed in.
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
 * Closes the key, or answers the outcome of its order. `EXPIRED` alone proves nothing, nor does an unrecognised reason: a
 * late repeat is recorded in this way even if the server has already forgotten the order that it repeats. So another key of
 * the same age is closed as well, which throws if the server's records do not reach back that far.
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
