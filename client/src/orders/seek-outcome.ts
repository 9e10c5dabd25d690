import type { OwnRequestOptions, Result } from '../core.ts';
import { TradingGraphError } from '../errors.ts';
import { type Deadline, LONGEST_MS, withinTime } from '../request/deadline.ts';
import { networkError, protocolError } from '../request/failures.ts';
import { neverLeft } from '../request/never-left.ts';
import { asError } from './as-error.ts';
import { askOutcome } from './ask-outcome.ts';
import { checkAccount } from './check-account.ts';
import { type OrderKey, outOfTime } from './order-key.ts';
import { type OrderAnswer, type OrderOutcome, readAnswer } from './outcome.ts';
import { isLasting, mayHaveTraded, pauseMs } from './repeat-rules.ts';
import type { TicketContext } from './ticket-context.ts';

/** A request without an answer is then sent over a new one: the server joins both. */
const ATTEMPT_MS = 10_000;

export interface Order {
  readonly key: OrderKey;
  readonly maxWaitMs: number;
  send(options: OwnRequestOptions): Promise<Result<OrderAnswer>>;
}

/**
 * Sends the order, and again where that may help, as long as it may be sent; then only asks. The outcome is the
 * server's. Throws the last error where there is none.
 */
export async function seekOutcome(
  context: TicketContext,
  order: Order,
  deadline: Deadline,
): Promise<OrderOutcome> {
  const { environment } = context.core;
  const { key } = order;
  let refusedTokens = 0;
  for (let failures = 0; ; failures += 1) {
    try {
      // This is checked before each attempt: a pause may last hours, and the clock may be changed in it.
      const isAsked = key.isInDoubt && (leftMs(order) === 0 || (await key.isStale(deadline)));
      return await (isAsked ? ask : attempt)(context, order, deadline);
    } catch (thrown) {
      const error = asError(thrown);
      if (error.code === 'UNAUTHENTICATED') refusedTokens += 1;
      // One token may have run out on its way; a second one that is refused was not worth a third.
      if (isLasting(error) || refusedTokens > 1) throw error;
      // Nobody wants an order to go out by itself when the network is back.
      if (!key.isInDoubt && (neverLeft(error) || isOffline(context))) throw error;
      const pause = pauseMs(error, failures, environment.random());
      const sendableMs = key.isInDoubt ? LONGEST_MS : leftMs(order);
      if (pause >= Math.min(deadline.remainingMs, sendableMs)) throw error;
      await deadline.sleep(pause);
      if (deadline.remainingMs === 0) throw error;
    }
  }
}

async function attempt(
  context: TicketContext,
  order: Order,
  deadline: Deadline,
): Promise<OrderOutcome> {
  const { core } = context;
  const { key } = order;
  if (!key.isInDoubt) throwIfOffline(context);
  // A request that waits somewhere for the network is ended with the time in which it may leave.
  const within = Math.min(ATTEMPT_MS, deadline.remainingMs, leftMs(order));
  return withinTime(core.environment, within, deadline.signal, async (time) => {
    const account = await checkAccount(core, key.account, time);
    key.account = account;
    await key.store(account, time);
    // Storing takes time, in which the user may have changed.
    await checkAccount(core, account, time);
    return send(context, order, { account, time });
  });
}

async function send(
  context: TicketContext,
  order: Order,
  { account, time }: { readonly account: string; readonly time: Deadline },
): Promise<OrderOutcome> {
  const { key } = order;
  const wasInDoubt = key.isInDoubt;
  const leaving = () => {
    // Timers stand still while a phone sleeps, so that the clocks are asked once more.
    if (time.remainingMs === 0 || leftMs(order) === 0) throw outOfTime();
    if (!wasInDoubt) throwIfOffline(context);
    key.isInDoubt = true;
  };
  try {
    const sending = order.send({ account, signal: time.signal, leaving });
    const outcome = readAnswer(await time.race(sending), key.key);
    if (outcome === null) throw protocolError('The answer has no outcome.');
    return outcome;
  } catch (thrown) {
    const error = asError(thrown);
    // An earlier request that was lost may still arrive, so that its doubt stays.
    if (!mayHaveTraded(error)) key.isInDoubt = wasInDoubt;
    throw error;
  }
}

/** Sends nothing: the time for that is over, or the server may have forgotten the key and would take it for a new order. */
async function ask({ core }: TicketContext, { key }: Order, deadline: Deadline) {
  const within = Math.min(ATTEMPT_MS, deadline.remainingMs);
  // An order in doubt is one whose account is known.
  const asked = { account: key.account as string, key: key.key };
  const outcome = await withinTime(core.environment, within, deadline.signal, (time) =>
    askOutcome(core, asked, time),
  );
  if (outcome !== null) return outcome;
  const message =
    'The server has no record of this order. It is too late to send it again, or the clock was changed.';
  throw new TradingGraphError(message, { code: 'KEY_EXPIRED', retryable: false });
}

/** The time in which the order may still be sent. */
function leftMs({ key, maxWaitMs }: Order): number {
  return Math.max(0, maxWaitMs - key.usedForMs);
}

function throwIfOffline(context: TicketContext): void {
  if (isOffline(context)) throw networkError('This device is offline.');
}

function isOffline({ core }: TicketContext): boolean {
  return core.environment.lifecycle.isOnline === false;
}
