import type { Send, WireCall } from '../exchange.ts';
import type { Area, Backend, OperationTraits } from '../operation.ts';
import { Breakers, type BreakersOptions } from './breakers.ts';
import { Bulkhead, withBulkheads } from './bulkhead.ts';
import { RetryBudget, withRetries } from './retries.ts';

/** Its clock is monotonic. */
interface ResilienceOptions extends BreakersOptions {
  readonly random: () => number;
  readonly rows: readonly OperationTraits[];
  /** The connections of each area. */
  readonly widths: Readonly<Record<Area, number>>;
  /** Called with each repeated call that was sent. */
  readonly onRetry?: (call: WireCall) => void;
}

export type Resilience = ReturnType<typeof createResilience>;

/** Retries, circuit breakers and bulkheads between the client of the gateway and its wire. */
export function createResilience(send: Send, options: ResilienceOptions) {
  const { clock, random, rows, widths, onRetry = () => {} } = options;
  const breakers = new Breakers(options);
  const backends = new Set(rows.map(({ backend }) => backend));
  // One budget for each backend: a dead one must not spend the retries of the others.
  const budgets = new Map<Backend, RetryBudget>();
  for (const backend of backends) budgets.set(backend, new RetryBudget(clock));
  const ofOrders = new Set(rows.filter(({ effect }) => effect === 'order').map(({ area }) => area));
  const bulkheads: Readonly<Record<Area, Bulkhead>> = Object.fromEntries(
    Object.entries(widths).map(([area, width]) => {
      return [area, new Bulkhead(clock, width, ofOrders.has(area))] as const;
    }),
  );
  // From the inside out: each attempt asks the breakers, once it has its connection.
  const guarded = withBulkheads(breakers.around(send), bulkheads, clock);

  return {
    send: withRetries(guarded, { clock, random, budgets, onRetry }),
    isOpen: (backend: Backend) => breakers.open(backend).length > 0,
    /** Calls of an area that wait for a connection, polls left out. */
    waiting: (area: Area) => bulkheads[area]?.waiting({ isPoll: false }) ?? 0,
    /** The operations that failed when last tried, with the cause of each backend, for an operator; null: none. */
    degradedReason(causeOf: (backend: Backend) => string | undefined): string | null {
      const failing = [...backends].flatMap((backend) => {
        const cause = causeOf(backend);
        return breakers
          .open(backend)
          .map((name) => (cause === undefined ? name : `${name} (${cause})`));
      });
      return failing.length === 0 ? null : `gateway failing: ${failing.join(', ')}`;
    },
  };
}
