import { systemClock } from '../lib/clock.ts';
import type { MetricsRegistry } from '../lib/metrics-registry.ts';
import { CALL_OUTCOMES, type CallOutcome, type ObserveCall } from './exchange.ts';
import type { DescribedOperation } from './operation-traits.ts';
import type { Resilience } from './resilience/resilience.ts';
import type { Reading } from './scalars.ts';
import type { Pools } from './transport.ts';

const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** One operation's calls for clients, or for polls. Holding its series saves hashing the labels at each call. */
interface Calls {
  readonly outcomes: Record<CallOutcome, number>;
  readonly seconds: { observe(value: number): void };
}

/** The parts that are read at each scrape. */
interface Watched {
  readonly operations: Readonly<Record<string, DescribedOperation>>;
  readonly resilience: Pick<Resilience, 'isOpen' | 'waiting'>;
  readonly pools: Pick<Pools, 'byArea' | 'widths'>;
}

/** The metrics of gateway calls. Polls of live feeds are counted separately from calls that clients wait for. */
export class GatewayMetrics {
  readonly #seconds;
  readonly #calls = { request: new Map<string, Calls>(), poll: new Map<string, Calls>() };
  readonly #retries;
  readonly #brokenAnswers;
  /**
   * The fields that the latest answer lacked, by operation and path, and named as in the tables: a rename on the wire keeps
   * the label. An answer whose list is empty changes nothing, because an account without positions must not hide a missing
   * field.
   */
  readonly #absent = new Map<string, Reading['absent']>();
  /** The parts of each gateway whose calls are counted. */
  readonly #watched: Watched[] = [];
  #clockSkew: { readonly ms: number | null } | null = null;

  constructor(registry: MetricsRegistry) {
    const operation = { operation: [] };
    this.#seconds = registry.histogram(
      'gateway_call_seconds',
      'Duration of the gateway calls that were sent.',
      CALL_SECONDS,
      { ...operation, origin: [] },
    );
    registry.tallies(
      'gateway_calls_total',
      'Attempts to call the gateway, by outcome; circuit, busy and expired were not sent.',
      ['operation', 'origin', 'outcome'],
      () => this.#outcomes(),
    );
    this.#retries = registry.counter('gateway_retries_total', 'Repeated gateway calls.', operation);
    this.#brokenAnswers = registry.counter(
      'gateway_answers_broken_total',
      'Successful answers whose body breaks the interface.',
      operation,
    );
    registry.gauges('circuit_open', '1 while a breaker of the area is open.', ['area'], () =>
      this.#areas().map(({ area, isOpen }) => [Number(isOpen), area]),
    );
    registry.gauges(
      'gateway_connections',
      'Connections to the gateway by area, in use and open; max is their bound.',
      ['area', 'state'],
      () =>
        this.#areas().flatMap(({ area, stats, width }) => [
          [stats.running, area, 'used'],
          [stats.connected, area, 'open'],
          [width, area, 'max'],
        ]),
    );
    registry.gauges('gateway_calls_waiting', 'Calls that wait for a connection.', ['area'], () =>
      this.#areas().map(({ area, stats, waiting }) => [stats.queued + waiting, area]),
    );
    registry.gauge(
      'gateway_clock_skew_seconds',
      'How far the gateway’s clock is ahead of this machine’s.',
      () => {
        const ms = this.#clockSkew?.ms ?? null;
        return ms === null ? null : ms / 1000;
      },
    );
    registry.gauges(
      'gateway_missing_fields',
      '1 while every row of an operation’s last answer lacks the field; optional fields do not count.',
      ['operation', 'field'],
      () => this.#missingFields(),
    );
    // The poll of every live feed. Other series of polls appear with their first call.
    this.#addSeries('getOpenPositions', 'poll');
  }

  readonly called: ObserveCall = ({ operation: { name }, caller, resends }, outcome, exchange) => {
    const origin = caller.priority ?? 'request';
    const calls = this.#calls[origin].get(name) ?? this.#addSeries(name, origin);
    calls.outcomes[outcome] += 1;
    if (resends) this.#retries.inc({ operation: name });
    if (exchange.sent) calls.seconds.observe((systemClock.now() - exchange.sentAtMs) / 1000);
  };

  readonly answerBroken = (operation: string): void => {
    this.#brokenAnswers.inc({ operation });
  };

  readonly answerRead = (operation: string, { absent }: Reading): void => {
    const last = this.#absent.get(operation);
    if (last === undefined) this.#absent.set(operation, absent);
    else for (const [path, fields] of absent) last.set(path, fields);
  };

  /** Creates the series of all operations before their first call. */
  watch(watched: Watched): void {
    this.#watched.push(watched);
    for (const { name, effect, errors } of Object.values(watched.operations)) {
      this.#addSeries(name, 'request');
      // Only reads are repeated.
      if (effect === 'read') this.#retries.inc({ operation: name }, 0);
      if (effect === 'read' || errors === 'sign-in') {
        this.#brokenAnswers.inc({ operation: name }, 0);
      }
    }
  }

  watchClock(clockSkew: { readonly ms: number | null }): void {
    this.#clockSkew = clockSkew;
  }

  #addSeries(operation: string, origin: 'request' | 'poll'): Calls {
    const outcomes = Object.fromEntries(CALL_OUTCOMES.map((outcome) => [outcome, 0]));
    this.#seconds.zero({ operation, origin });
    const seconds = this.#seconds.labels({ operation, origin });
    const calls = { outcomes: outcomes as Calls['outcomes'], seconds };
    this.#calls[origin].set(operation, calls);
    return calls;
  }

  *#outcomes(): Generator<[number, string, string, string]> {
    for (const [origin, byOperation] of Object.entries(this.#calls)) {
      for (const [operation, { outcomes }] of byOperation) {
        for (const outcome of CALL_OUTCOMES) yield [outcomes[outcome], operation, origin, outcome];
      }
    }
  }

  #areas() {
    return this.#watched.flatMap(({ pools, resilience }) =>
      [...pools.byArea].map(([area, { stats }]) => ({
        area,
        stats,
        width: pools.widths[area] ?? 0,
        isOpen: resilience.isOpen(area),
        waiting: resilience.waiting(area),
      })),
    );
  }

  *#missingFields(): Generator<[number, string, string]> {
    for (const [operation, absent] of this.#absent) {
      for (const [path, fields] of absent) {
        for (const { name } of fields) yield [1, operation, path.replace('[]', '') + name];
      }
    }
  }
}
