import { memo } from '../lib/memo.ts';
import { byName, type Count, type Distribution, type Registry } from '../lib/metrics/registry.ts';
import { CALL_OUTCOMES, type CallOutcome } from './caller.ts';
import type { WireCall } from './exchange.ts';
import type { DescribedOperation } from './operation.ts';
import type { Pools } from './pools.ts';
import type { Resilience } from './resilience/resilience.ts';
import type { Reading } from './wire/scalars.ts';
import type { SeenRows } from './wire/seen-rows.ts';

const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface CallSeries {
  readonly seconds: Distribution;
  readonly outcomes: Readonly<Record<CallOutcome, Count>>;
}

/** The metrics of gateway calls. The polls of live feeds are counted apart from the calls that clients wait for. */
export class GatewayMetrics {
  readonly pollsWaiting;
  readonly clockSkew;
  readonly #seconds;
  readonly #calls;
  readonly #retries;
  readonly #brokenAnswers;
  readonly #circuits;
  readonly #connections;
  readonly #queued;
  readonly #ofRequests = new Map<string, CallSeries>();
  readonly #ofPolls = new Map<string, CallSeries>();
  /** The last rows of each list of an operation. An empty list changes nothing: an account without positions hides no loss. */
  readonly #lastRows = new Map<string, Map<string, SeenRows>>();

  constructor(registry: Registry) {
    this.#seconds = registry.histogram(
      'gateway_call_seconds',
      'Duration of the gateway calls that went onto the wire.',
      CALL_SECONDS,
      { operation: [], origin: [] },
    );
    this.#calls = registry.counter(
      'gateway_calls_total',
      'Attempts to call the gateway, by outcome; circuit, busy and expired were held back here.',
      { operation: [], origin: [], outcome: [] },
    );
    this.#retries = registry.counter('gateway_retries_total', 'Repeated gateway calls.', {
      operation: [],
    });
    this.#brokenAnswers = registry.counter(
      'gateway_answers_broken_total',
      'Successful answers whose body breaks the interface.',
      { operation: [] },
    );
    this.#circuits = registry.gauge(
      'circuit_open',
      '1 while the breaker of a backend, or of one of its operations, is open or half-open.',
      'backend',
    );
    this.#connections = registry.gauge(
      'gateway_connections',
      'Connections to the gateway by area, in use and open; max is their bound.',
      'area',
      'state',
    );
    this.#queued = registry.gauge(
      'gateway_calls_waiting',
      'Calls that wait for a connection.',
      'area',
    );
    this.pollsWaiting = registry.gauge(
      'gateway_polls_waiting',
      'Polls that wait for a connection that polls may use.',
    );
    this.clockSkew = registry.gauge(
      'gateway_clock_skew_seconds',
      'How far the gateway’s clock is ahead of this machine’s, by the median of ten answers.',
    );
    registry
      .gauge(
        'gateway_missing_fields',
        '1 while the last answer of an operation lacked the field in each of its rows; fields that the interface calls optional do not count.',
        'operation',
        'field',
      )
      .fromEach(() => this.#missingFields());
    this.#ofPolls.set('getOpenPositions', this.#register('getOpenPositions', 'poll'));
  }

  called(call: WireCall, outcome: CallOutcome, ms: number): void {
    const series = this.#seriesOf(call);
    series?.seconds.observe(ms / 1000);
    series?.outcomes[outcome].add();
  }

  heldBack(call: WireCall, outcome: CallOutcome): void {
    this.#seriesOf(call)?.outcomes[outcome].add();
  }

  readonly retried = ({ operation }: WireCall): void => {
    this.#retries.add(operation);
  };

  readonly answerBroken = (operation: string): void => {
    this.#brokenAnswers.add(operation);
  };

  readonly answerRead = (operation: string, { rows }: Reading): void => {
    const last = memo(this.#lastRows, operation, () => new Map<string, SeenRows>());
    for (const [key, seen] of rows) if (seen.absent !== null) last.set(key, seen);
  };

  /** Adds the series of all operations of one origin. */
  watch(
    operations: Readonly<Record<string, DescribedOperation>>,
    resilience: Resilience,
    pools: Pools,
  ): void {
    for (const { name, effect, errors } of Object.values(operations)) {
      this.#ofRequests.set(name, this.#register(name, 'request'));
      // Writes are never repeated here.
      if (effect === 'read') this.#retries.register(name);
      if (effect === 'read' || errors === 'sign-in') this.#brokenAnswers.register(name);
    }
    for (const backend of new Set(Object.values(operations).map((row) => row.backend))) {
      this.#circuits.from(() => (resilience.isOpen(backend) ? 1 : 0), backend);
    }
    for (const [area, pool] of pools.byArea) {
      this.#connections.from(() => pool.stats.running, area, 'used');
      this.#connections.from(() => pool.stats.connected, area, 'open');
      this.#connections.from(() => pools.widths[area] ?? 0, area, 'max');
      this.#queued.from(() => pool.stats.queued + resilience.waiting(area), area);
    }
  }

  #register(operation: string, origin: 'request' | 'poll'): CallSeries {
    return {
      seconds: this.#seconds.register(operation, origin),
      outcomes: byName(CALL_OUTCOMES, (outcome) =>
        this.#calls.register(operation, origin, outcome),
      ),
    };
  }

  #seriesOf({ operation, caller }: WireCall): CallSeries | undefined {
    if (caller.priority !== 'poll') return this.#ofRequests.get(operation);
    return memo(this.#ofPolls, operation, () => this.#register(operation, 'poll'));
  }

  *#missingFields(): Iterable<readonly [value: number, operation: string, field: string]> {
    for (const [operation, last] of this.#lastRows) {
      for (const { path, absent } of last.values()) {
        for (const name of absent ?? []) yield [1, operation, path + name];
      }
    }
  }
}
