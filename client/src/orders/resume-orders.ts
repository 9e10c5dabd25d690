import { type Deadline, withinTime } from '../request/deadline.ts';
import { disposedError } from '../request/failures.ts';
import { asError } from './as-error.ts';
import { askOutcome } from './ask-outcome.ts';
import { checkAccount } from './check-account.ts';
import { deleteKey } from './delete-key.ts';
import { ageOf, stampStored } from './key-age.ts';
import { OrderTicket } from './order-ticket.ts';
import type { ResumedOrder, ResumedOutcome } from './resumed-order.ts';
import type { StoredKey, StoredKeys } from './stored-keys.ts';
import type { TicketContext } from './ticket-context.ts';

/** An order under way is answered when it has ended, which the server gives up to 15 seconds by default. */
const WITHIN_MS = 30_000;
const AT_ONCE = 4;

/**
 * Asks for the outcome of each stored key of the account that is signed in, and sends no order. Another tab may do the
 * same at the same time: outcomes do not change, and an entry that is gone is deleted once more.
 */
export async function resumeOrders(
  context: TicketContext,
  keys: StoredKeys,
): Promise<readonly ResumedOrder[]> {
  const { core, disposal, underWay } = context;
  if (disposal.aborted) throw disposedError();
  return withinTime(core.environment, WITHIN_MS, disposal, async (deadline) => {
    const account = await checkAccount(core, null, deadline);
    const [stored, latest] = await deadline.race(Promise.all([keys.of(account), keys.latest()]));
    const waiting = stored.filter(({ key }) => !underWay.has(key));
    const resumed: ResumedOrder[] = [];
    let next = 0;
    const worker = async () => {
      for (let at = next++; at < waiting.length; at = next++) {
        const entry = waiting[at] as StoredKey;
        resumed[at] = await resumeOne(context, { keys, account, stored: entry, latest, deadline });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return resumed;
  });
}

interface Resuming {
  readonly keys: StoredKeys;
  readonly account: string;
  readonly stored: StoredKey;
  readonly latest: number;
  readonly deadline: Deadline;
}

async function resumeOne(
  context: TicketContext,
  { keys, account, stored, latest, deadline }: Resuming,
): Promise<ResumedOrder> {
  const { environment } = context.core;
  const { key, digest, at, maxWaitMs } = stored;
  const stamp = stampStored(environment, at);
  const age = ageOf(stamp, environment, latest);
  const outcome = await outcomeOf(context, account, key, deadline);
  if (outcome.status === 'accepted' || outcome.status === 'rejected') {
    await deleteKey(environment, keys, { account, key });
  }
  return {
    idempotencyKey: key,
    placedAt: at === null ? null : new Date(at).toISOString(),
    age,
    outcome,
    ticket: new OrderTicket(context, key, {
      account,
      digest,
      maxWaitMs,
      // Doubt stays, whatever the clock is set to later.
      stamp: age === 'inDoubt' ? { ...stamp, at: null } : stamp,
    }),
    forget: () => keys.delete(account, key),
  };
}

async function outcomeOf(
  { core }: TicketContext,
  account: string,
  key: string,
  deadline: Deadline,
): Promise<ResumedOutcome> {
  try {
    return (await askOutcome(core, { account, key }, deadline)) ?? { status: 'notFound' };
  } catch (error) {
    return { status: 'unanswered', error: asError(error) };
  }
}
