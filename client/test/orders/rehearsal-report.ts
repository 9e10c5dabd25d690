import type { Sandbox } from '../../../sandbox/start.ts';
import type { OrderOutcome } from '../../src/orders/outcome.ts';

/** One tap of an order, and its end. */
export interface RehearsedTicket {
  readonly comment: string;
  /** The faults it met: of its network, and others. */
  readonly faults: readonly string[];
  readonly end: OrderOutcome;
  /** The outcome that the user saw last, after pressing the button again perhaps. */
  readonly last: OrderOutcome;
  /** How long after its wait its order left, where it did. */
  readonly lateMs: number;
}

export function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** What clients were told against the gateway's book, and what need not have been left open. */
export function contradictionsOf(tickets: readonly RehearsedTicket[], sandbox: Sandbox): string[] {
  const applied = countsOf(sandbox.orders().map(({ comment }) => String(comment)));
  return tickets.flatMap((ticket) => {
    const { comment, last, faults, lateMs } = ticket;
    const { status } = last;
    const count = applied[comment] ?? 0;
    const isPossible =
      status === 'accepted' ? count === 1 : status === 'unknown' ? count <= 1 : count === 0;
    const told: string[] = [];
    const which = `${comment} (${faults.join(', ')})`;
    if (!isPossible) told.push(`${which} is ${status}, and was carried out ${count} times`);
    if (lateMs > 0) told.push(`${which} left ${lateMs} ms after its wait`);
    for (const outcome of [ticket.end, last]) {
      if (isExplained(outcome)) continue;
      const reason = outcome.status === 'unknown' ? outcome.error : null;
      told.push(
        `${which} was left unknown: ${reason?.code ?? 'without a reason'} ${reason?.message}`,
      );
    }
    return told;
  });
}

/**
 * Whether an order may stay unknown: the service itself has said so, of a gateway without a clear answer or of a replica that
 * was killed; or nobody could prove whose the key is.
 */
function isExplained(outcome: OrderOutcome): boolean {
  if (outcome.status !== 'unknown') return true;
  return outcome.error === null || outcome.error.code === 'GATEWAY_UNAVAILABLE';
}
