import { systemClock } from '../../lib/clock.ts';
import { callOutcome } from '../classify.ts';
import type { ObserveCall, Send } from '../exchange.ts';
import type { Area, Backend, OperationTraits } from '../operation.ts';
import { Breakers, type BreakersOptions } from './breakers.ts';
import { Bulkhead, withBulkheads } from './bulkhead.ts';
import { RetryBudget, withRetries } from './retries.ts';

/** Its clock is monotonic. */
interface ResilienceOptions extends BreakersOptions {
  readonly random: () => number;
  readonly operations: Readonly<Record<string, OperationTraits>>;
  /** The connections of each area. */
  readonly widths: Readonly<Record<Area, number>>;
  readonly observe: ObserveCall;
}

/** Retries, circuit breakers and bulkheads between the client of the gateway and its wire. */
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
    const orders = operations.find(({ effect }) => effect === 'order');
    const bulkheads = Object.entries(widths).map(
      ([area, width]) => [area, new Bulkhead(clock, width, area === orders?.area)] as const,
    );
    this.#bulkheads = Object.fromEntries(bulkheads);
    // One budget for each backend: a dead one must not spend the retries of the others.
    const budgets = new Map([...this.#backends].map((each) => [each, new RetryBudget()]));
    // From the inside out: each attempt asks the breakers, once it has its connection.
    const guarded = withBulkheads(this.#breakers.around(send), this.#bulkheads, clock);
    this.send = withRetries(observed(guarded, observe), { clock, random, budgets });
  }

  isOpen(backend: Backend): boolean {
    return this.#breakers.open(backend).length > 0;
  }

  /** The calls of an area that wait for a connection. */
  waiting(area: Area): number {
    return this.#bulkheads[area]?.waiting ?? 0;
  }

  /** The operations that failed when last tried, with their causes, for an operator; null: none. */
  degradedReason(): string | null {
    const failing = [...this.#backends].flatMap((backend) => this.#breakers.open(backend));
    if (failing.length === 0) return null;
    const named = failing.map(({ name, cause }) => (cause === null ? name : `${name} (${cause})`));
    return `gateway failing: ${named.join(', ')}`;
  }
}

/** Reports each attempt, and puts it on the receipt of its request. */
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
