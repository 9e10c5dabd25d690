import type { Clock } from '../../lib/clock.ts';
import type { Send, WireCall } from '../exchange.ts';
import { type Backend, OPERATION_NAMES, OPERATIONS } from '../operations.ts';
import { withBreakers } from './breakers.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { PollBulkhead, withPollBulkhead } from './poll-bulkhead.ts';
import { RetryBudget, withRetries } from './retries.ts';

interface ResilienceOptions {
  /** A monotonic clock. */
  readonly clock: Clock;
  /** A random number from 0 up to 1, for jitter. */
  readonly random: () => number;
  /** The most connections that polls hold at a time. */
  readonly pollConnections: number;
  readonly onCircuit: (backend: Backend, state: 'closed' | 'open') => void;
  /** Called with each repeated call that was sent. */
  readonly onRetry?: (call: WireCall) => void;
}

const WINDOW_MS = 10_000;
const FAILURE_THRESHOLD = 0.5;
const MINIMUM_CALLS = 10;
// Few orders come in ten seconds, and a failure to connect is hardly ever one account's own.
const MINIMUM_ORDERS = 5;
// Two accounts that fail in the same ten seconds, each for a reason of its own, are no rarity among
// thousands; a third, with none of them having more than half of the failures, is hardly coincidence.
// With more than three a small installation's breaker could never open.
const MINIMUM_ACCOUNTS = 3;
const PAUSE_MS = 5_000;
const RETRY_WINDOW_MS = 60_000;
const RETRY_SHARE = 0.1;
const RETRY_FLOOR = 10;

/** Retries, circuit breakers and the poll bulkhead between the client of the gateway and its wire. */
export class Resilience {
  readonly send: Send;
  readonly #breakers = new Map<Backend, CircuitBreaker>();
  readonly #bulkhead: PollBulkhead;

  constructor(send: Send, options: ResilienceOptions) {
    const { clock, random, pollConnections, onCircuit, onRetry = () => {} } = options;
    const budgets = new Map<Backend, RetryBudget>();
    for (const { backend, effect } of OPERATION_NAMES.map((name) => OPERATIONS[name])) {
      if (!this.#breakers.has(backend)) {
        const breaker = new CircuitBreaker({
          clock,
          windowMs: WINDOW_MS,
          threshold: FAILURE_THRESHOLD,
          minimumCalls: backend === 'orders' ? MINIMUM_ORDERS : MINIMUM_CALLS,
          minimumAccounts: MINIMUM_ACCOUNTS,
          pauseMs: PAUSE_MS,
          onChange: (state) => onCircuit(backend, state),
        });
        this.#breakers.set(backend, breaker);
      }
      if (effect === 'read' && !budgets.has(backend)) {
        // One budget for each backend: a dead one must not spend the retries of the others.
        const budget = new RetryBudget({
          clock,
          windowMs: RETRY_WINDOW_MS,
          share: RETRY_SHARE,
          floor: RETRY_FLOOR,
        });
        budgets.set(backend, budget);
      }
    }
    this.#bulkhead = new PollBulkhead(clock, pollConnections);
    // From the inside out: each attempt asks the breaker, and a poll does so once it has its place.
    const guarded = withPollBulkhead(withBreakers(send, this.#breakers), this.#bulkhead, clock);
    this.send = withRetries(guarded, { clock, random, budgets, onRetry });
  }

  isOpen(backend: Backend): boolean {
    return this.#breakers.get(backend)?.state !== 'closed';
  }

  get pollsWaiting(): number {
    return this.#bulkhead.waiting;
  }

  /** The backends that failed when last tried, as a degraded reason for an operator; null: none. */
  degradedReason(): string | null {
    const failing = [...this.#breakers].filter(([, { state }]) => state !== 'closed');
    if (failing.length === 0) return null;
    return `gateway failing: ${failing.map(([backend]) => backend).join(', ')}`;
  }
}
