import { systemClock } from '../../lib/clock.ts';
import { callOutcome } from '../classify.ts';
import type { ObserveCall, Send } from '../exchange.ts';
import type { Area, Backend, OperationTraits } from '../operation.ts';
import { Breakers, type BreakersOptions } from './breakers.ts';
import { Bulkhead, withBulkheads } from './bulkhead.ts';
import { RetryBudget, withRetries } from './retries.ts';

/** The clock must be monotonic. */
interface ResilienceOptions extends BreakersOptions {
  readonly random: () => number;
  readonly operations: Readonly<Record<string, OperationTraits>>;
  /** The number of connections in each area. */
  readonly widths: Readonly<Record<Area, number>>;
  readonly observe: ObserveCall;
}

/** Retries, circuit breakers and bulkheads between the gateway client and the wire. */
export class Resilience {
  readonly send: Send;
  readonly #breakers: Breakers;
  readonly #bulkheads: Readonly<Record<Area, Bulkhead>>;
  readonly #backends: ReadonlySet<Backend>;

  constructor(send: Send, options: ResilienceOptions) {
    const { clock, random, widths, observe } = options;
    const operations = Object.values(options.operations);
    this.#backends = new Set(operations.map(({ backend }) => backend));
    this.#breakers = new Breakers(options);
    const bulkheads = Object.entries(widths).map(
      ([area, width]) => [area, new Bulkhead(clock, width, area === 'orders')] as const,
    );
    this.#bulkheads = Object.fromEntries(bulkheads);
    // One budget for each backend: a dead backend must not spend the retries of the others.
    const budgets = new Map([...this.#backends].map((each) => [each, new RetryBudget()]));
    // Each attempt takes its connection first, and then asks the breakers.
    const guarded = withBulkheads(this.#breakers.around(send), this.#bulkheads, clock);
    this.send = withRetries(observed(guarded, observe), { clock, random, budgets });
  }

  isOpen(backend: Backend): boolean {
    return this.#breakers.open(backend).length > 0;
  }

  /** The number of an area's calls that wait for a connection. */
  waiting(area: Area): number {
    return this.#bulkheads[area]?.waiting ?? 0;
  }

  /** The operations with an open breaker and their causes, for operators; null if there are none. */
  degradedReason(): string | null {
    const failing = [...this.#backends].flatMap((backend) => this.#breakers.open(backend));
    if (failing.length === 0) return null;
    const named = failing.map(({ name, cause }) => (cause === null ? name : `${name} (${cause})`));
    return `gateway failing: ${named.join(', ')}`;
  }
}

/** Reports each attempt, and adds it to the receipt of its request. */
export function observed(send: Send, observe: ObserveCall): Send {
  return async (call) => {
    const exchange = await send(call);
    const { operation, caller } = call;
    const outcome = callOutcome(call, exchange);
    const ms = exchange.sent ? systemClock.now() - exchange.sentAtMs : 0;
    observe(call, outcome, exchange);
    caller.receipt?.({ operation, ms, source: 'call', outcome });
    return exchange;
  };
}
