import { TradingGraphError } from '../errors.ts';
import { type Deadline, withinTime } from '../request/deadline.ts';
import { disposedError, storageError } from '../request/failures.ts';
import { PING } from '../request/ping.ts';
import { Order } from './order.ts';
import { OrderTicket } from './order-ticket.ts';
import type { OrderOutcome } from './outcome.ts';
import type { ResumedOrder, ResumeOptions } from './resumed-order.ts';
import type { StoredKey, StoredKeys } from './stored-keys.ts';
import type { TicketContext } from './ticket-context.ts';

/** Longer than the 15 seconds for which the server by default waits for an order under way before it answers. */
const WITHIN_MS = 30_000;
/** A storage that has not answered after this time has failed. */
const STORAGE_MS = 10_000;
/** How many outcomes are sought at the same time. */
const MAX_AT_ONCE = 4;

/**
 * Settles each stored key of the signed-in account. It asks for the outcome first. If there is no outcome, it closes the key
 * when the order must not be sent any more, at the latest after half of the time. It sends no order. Another tab may do the
 * same at the same time: outcomes do not change, and an entry may be deleted twice.
 */
export async function resumeOrders(
  context: TicketContext,
  keys: StoredKeys,
  { withinMs = WITHIN_MS }: ResumeOptions,
): Promise<readonly ResumedOrder[]> {
  const { core, disposal, underWay } = context;
  if (disposal.aborted) throw disposedError();
  return withinTime(core.environment, withinMs, disposal, async (deadline) => {
    const account = await deadline.race(core.account(deadline.signal));
    const { signal } = deadline;
    if (core.serverClock.now() === null || core.serverClock.isBehind)
      await deadline.race(core.request(PING, {}, { signal, repeats: false }));
    const stored = await inStorageTime(context, () => keys.of(account));
    const waiting = stored.filter(({ key }) => !underWay.has(key));
    const resumed: ResumedOrder[] = [];
    const settlings: (() => void)[] = [];
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < waiting.length; index = next++) {
        const entry = waiting[index] as StoredKey;
        const order = Order.ofFormerRun(context, account, entry);
        const outcome = entry.outcome ?? (await outcomeOf(order, entry, deadline));
        if (outcome.status !== 'unknown') settlings.push(() => order.settle(outcome));
        const placedAt = entry.made ?? entry.at;
        resumed[index] = {
          idempotencyKey: entry.key,
          placedAt: placedAt === null ? null : new Date(placedAt).toISOString(),
          outcome,
          settled: entry.outcome !== undefined,
          ticket: new OrderTicket(context, entry, { order, outcome }),
          forget: () => inStorageTime(context, () => order.forget()),
        };
      }
    };
    await Promise.all(Array.from({ length: MAX_AT_ONCE }, worker));
    // Keys stay until all outcomes are known, so that an app that is closed earlier finds them again.
    for (const settle of settlings) settle();
    return resumed;
  });
}

async function outcomeOf(
  order: Order,
  { sendBefore = '', made }: StoredKey,
  { remainingMs }: Deadline,
): Promise<OrderOutcome> {
  // An order without a known time limit, for which this is NaN, counts as expired.
  const maxWaitMs = Math.max(0, Date.parse(sendBefore) - Number(made)) || 0;
  return (await order.seek(null, { withinMs: remainingMs, maxWaitMs })).outcome;
}

/** A storage that never answers counts as failed. */
async function inStorageTime<T>({ core }: TicketContext, call: () => Promise<T>): Promise<T> {
  try {
    return await withinTime(core.environment, STORAGE_MS, undefined, ({ race }) => race(call()));
  } catch (thrown) {
    if (thrown instanceof TradingGraphError && thrown.code === 'STORAGE') throw thrown;
    throw storageError('The storage does not answer.', thrown);
  }
}
