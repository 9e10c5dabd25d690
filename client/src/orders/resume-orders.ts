import type { Core } from '../core.ts';
import { type Deadline, withinTime } from '../request/deadline.ts';
import { asTradingGraphError, disposedError } from '../request/failures.ts';
import { askOutcome, closeKey } from './ask-outcome.ts';
import { deleteKey } from './delete-key.ts';
import { ageOf, ERROR_MS, type KeyStamp, momentOf, stampStored } from './key-age.ts';
import { PLACED_ORDER } from './operations.ts';
import { OrderTicket } from './order-ticket.ts';
import { isForgotten } from './repeat-rules.ts';
import type { ResumedOrder, ResumedOutcome } from './resumed-order.ts';
import type { StoredKey, StoredKeys } from './stored-keys.ts';
import type { TicketContext } from './ticket-context.ts';

/** An order under way is answered when it has ended, which the server gives up to 15 seconds by default. */
const WITHIN_MS = 30_000;
const AT_ONCE = 4;

/**
 * Asks for the outcome of each stored key of the account that is signed in, and closes those without one whose orders
 * may no longer be sent. It sends no order. Another tab may do the same at the same time: outcomes do not change, and
 * deleting an entry twice does no harm.
 */
export async function resumeOrders(
  context: TicketContext,
  keys: StoredKeys,
): Promise<readonly ResumedOrder[]> {
  const { core, disposal, underWay } = context;
  if (disposal.aborted) throw disposedError();
  return withinTime(core.environment, WITHIN_MS, disposal, async (deadline) => {
    const account = await deadline.race(core.account(deadline.signal));
    const stored = await deadline.race(keys.of(account));
    const waiting = stored.filter(({ key }) => !underWay.has(key));
    const resumed: ResumedOrder[] = [];
    let next = 0;
    const worker = async () => {
      for (let at = next++; at < waiting.length; at = next++) {
        const entry = waiting[at] as StoredKey;
        resumed[at] = await resumeOne(context, { keys, account, stored: entry, deadline });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    // Keys stay until all outcomes are known: an app that is closed before it is told of them finds them again.
    const final = resumed.filter(({ outcome }) => isFinal(outcome));
    await Promise.all(
      final.map(({ idempotencyKey: key }) => deleteKey(core.environment, keys, { account, key })),
    );
    return resumed;
  });
}

/** Whether nothing more can become known of the order. */
function isFinal(outcome: ResumedOutcome): boolean {
  return 'replayed' in outcome || outcome.status === 'unsent';
}

interface Resuming {
  readonly keys: StoredKeys;
  readonly account: string;
  readonly stored: StoredKey;
  readonly deadline: Deadline;
}

async function resumeOne(context: TicketContext, resuming: Resuming): Promise<ResumedOrder> {
  const { core } = context;
  const { keys, account, stored } = resuming;
  const { key, digest, at, made, keyMade, maxWaitMs } = stored;
  const stamp = stampStored(core, made);
  const placedAt = made ?? at;
  const outcome = await outcomeOf(core, resuming, stamp);
  return {
    idempotencyKey: key,
    placedAt: placedAt === null ? null : new Date(placedAt).toISOString(),
    age: ageOf(stamp, core),
    outcome,
    ticket: new OrderTicket(context, key, { account, digest, maxWaitMs, stamp, keyMade }),
    forget: () => keys.delete(account, key),
  };
}

async function outcomeOf(
  core: Core,
  { account, stored, deadline }: Resuming,
  stamp: KeyStamp,
): Promise<ResumedOutcome> {
  const { key, sendBefore = '' } = stored;
  const isFresh = () => ageOf(stamp, core) === 'fresh';
  try {
    let outcome = await askOutcome(core, PLACED_ORDER, { key }, deadline, { account });
    // Until then another tab may have stored the key, and not have sent its order yet.
    const isOver = outcome === null && Number(core.serverClock.now()) > Date.parse(sendBefore);
    // The refused request may have been a late repeat of an order that the server has forgotten, so its key is closed too.
    if (isFresh() && (isOver || outcome?.status === 'unsent')) {
      const asked = { key, since: momentOf(stamp, -ERROR_MS) };
      outcome = await closeKey(core, asked, deadline, { account });
    }
    return outcome === null || (outcome.status === 'unsent' && !isFresh())
      ? { status: 'notFound' }
      : outcome;
  } catch (thrown) {
    const error = asTradingGraphError(thrown);
    if (!isForgotten(error)) return { status: 'unanswered', error };
    const sentAt = new Date(stored.made ?? stored.at ?? 0).toISOString();
    return { status: 'unknown', idempotencyKey: key, sentAt, message: null, error };
  }
}
