import type { Sandbox } from '../../../src/sandbox/start.ts';
import type { OrderOutcome } from '../../src/orders/outcome.ts';

/** One tap of an order, and its end. */
export interface RehearsedTicket {
  readonly comment: string;
  /** The faults it met: of its network, and others. */
  readonly faults: readonly string[];
  readonly end: OrderOutcome;
  /** The outcome that the user saw last, after pressing the button again perhaps. */
  readonly last: OrderOutcome;
  /** The time from the tap, or from the restart of the app, to its end. */
  readonly tookMs: number;
  /** How long after its wait its order left, where it did. */
  readonly lateMs: number;
}

/** How tickets with one fault ended, and after what time. */
export interface FaultFigures {
  readonly tickets: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly medianMs: number;
  readonly worstMs: number;
}

export function countStatuses(tickets: readonly RehearsedTicket[]): Record<string, number> {
  const statuses: Record<string, number> = {};
  for (const { end } of tickets) statuses[end.status] = (statuses[end.status] ?? 0) + 1;
  return statuses;
}

export function figuresByFault(
  tickets: readonly RehearsedTicket[],
): ReadonlyMap<string, FaultFigures> {
  const names = new Set(tickets.flatMap(({ faults }) => faults));
  return new Map(
    [...names].toSorted().map((name) => {
      const own = tickets.filter(({ faults }) => faults.includes(name));
      const times = own.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
      const [medianMs = 0, worstMs = 0] = [times[Math.floor(times.length / 2)], times.at(-1)];
      return [name, { tickets: own.length, statuses: countStatuses(own), medianMs, worstMs }];
    }),
  );
}

/** What clients were told against the gateway's book, and what need not have been left open. */
export function contradictionsOf(tickets: readonly RehearsedTicket[], sandbox: Sandbox): string[] {
  const applied = new Map<string, number>();
  for (const { comment } of sandbox.orders()) {
    applied.set(String(comment), (applied.get(String(comment)) ?? 0) + 1);
  }
  return tickets.flatMap((ticket) => {
    const { comment, last, faults, lateMs } = ticket;
    const { status } = last;
    const count = applied.get(comment) ?? 0;
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
