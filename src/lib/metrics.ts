import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * The metrics for operators. Labels come from fixed sets (operations, codes, outcomes): an
 * identifier in a label would be a leak, and a new time series for each user.
 */
export class Metrics {
  readonly #registry = new Registry();

  readonly gatewayCalls = new Histogram({
    name: 'trading_graph_gateway_call_seconds',
    help: 'Calls of the gateway by operation and what came of them.',
    labelNames: ['operation', 'outcome'] as const,
    buckets: CALL_SECONDS,
    registers: [this.#registry],
  });

  readonly errors = new Counter({
    name: 'trading_graph_errors_total',
    help: 'Errors in answers by their code.',
    labelNames: ['code'] as const,
    registers: [this.#registry],
  });

  readonly requests = new Counter({
    name: 'trading_graph_http_requests_total',
    help: 'HTTP requests by status class.',
    labelNames: ['status'] as const,
    registers: [this.#registry],
  });

  readonly orders = new Counter({
    name: 'trading_graph_orders_total',
    help: 'Orders by outcome, repeats left aside.',
    labelNames: ['outcome'] as const,
    registers: [this.#registry],
  });

  readonly readersCut = new Counter({
    name: 'trading_graph_readers_cut_total',
    help: 'Connections that were cut because answers stayed unread, by the bound that was reached.',
    labelNames: ['reason'] as const,
    registers: [this.#registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: 'trading_graph_' });
  }

  /** A gauge that is read from its source on each scrape. */
  watch(name: string, help: string, read: () => number): void {
    new Gauge({
      name: `trading_graph_${name}`,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
