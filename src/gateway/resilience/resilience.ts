import type { Send, WireCall } from '../exchange.ts';
import type { Area, Backend, GatewayOperation } from '../operations.ts';
import {
  type BackendBreakers,
  type BreakersOptions,
  createBackendBreakers,
  withBreakers,
} from './breakers.ts';
import { type Bulkheads, createBulkheads, withBulkheads } from './bulkhead.ts';
import { createRetryBudget, type RetryBudget, withRetries } from './retries.ts';

/** Its clock is monotonic. */
interface ResilienceOptions extends BreakersOptions {
  readonly random: () => number;
  readonly rows: readonly GatewayOperation[];
  /** When false, no read is sent again. */
  readonly retries: boolean;
  readonly orderWaitMs: number;
  /** The connections of each area. */
  readonly widths: Readonly<Record<Area, number>>;
  /** Called with each repeated call that was sent. */
  readonly onRetry?: (call: WireCall) => void;
}

export type Resilience = ReturnType<typeof createResilience>;

/** Retries, circuit breakers and bulkheads between the client of the gateway and its wire. */
export function createResilience(send: Send, options: ResilienceOptions) {
  const { clock, random, rows, widths, retries, orderWaitMs, onRetry = () => {} } = options;
  const breakers = new Map<Backend, BackendBreakers>();
  const readsSilence = () => breakers.get('reads')?.silence;
  const budgets = new Map<Backend, RetryBudget>();
  for (const { backend, effect } of rows) {
    if (!breakers.has(backend)) {
      breakers.set(backend, createBackendBreakers(backend, options, readsSilence));
    }
    if (retries && effect === 'read' && !budgets.has(backend)) {
      // One budget for each backend: a dead one must not spend the retries of the others.
      budgets.set(backend, createRetryBudget(clock));
    }
  }
  const ofOrders = new Set(rows.filter(({ effect }) => effect === 'order').map(({ area }) => area));
  const bulkheads: Readonly<Record<Area, Bulkheads>> = Object.fromEntries(
    Object.entries(widths).map(([area, width]) => {
      return [area, createBulkheads(clock, width, ofOrders.has(area))] as const;
    }),
  );
  // From the inside out: each attempt asks the breakers, once it has its place in a bulkhead.
  const guarded = withBulkheads(withBreakers(send, breakers), bulkheads, clock, orderWaitMs);

  return {
    send: withRetries(guarded, { clock, random, budgets, onRetry }),
    isOpen: (backend: Backend) => breakers.get(backend)?.open.length !== 0,
    /** Calls of an area that wait for a connection, polls that wait for other polls left out. */
    waiting(area: Area): number {
      const { all, unproved } = bulkheads[area] ?? {};
      return (all?.waiting ?? 0) + (unproved?.waiting ?? 0);
    },
    get pollsWaiting(): number {
      return bulkheads.reads?.polls.waiting ?? 0;
    },
    /** The backends and operations that failed when last tried, with the cause of each, for an operator; null: none. */
    degradedReason(causeOf: (backend: Backend) => string | undefined): string | null {
      const failing = [...breakers].flatMap(([backend, { open }]) => {
        const cause = causeOf(backend);
        return open.map((name) => (cause === undefined ? name : `${name} (${cause})`));
      });
      return failing.length === 0 ? null : `gateway failing: ${failing.join(', ')}`;
    },
  };
}
