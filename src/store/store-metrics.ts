import type { Registry } from '../lib/metrics/registry.ts';

export const STORE_ACTIONS = ['reserve', 'settle', 'release', 'find'] as const;
export type StoreAction = (typeof STORE_ACTIONS)[number];

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The metrics of the stores. */
export class StoreMetrics {
  readonly seconds;
  readonly failures;
  readonly records;
  readonly recordsMax;
  readonly redisUp;
  readonly counterSeconds;

  constructor(registry: Registry) {
    this.seconds = registry.histogram(
      'order_store_seconds',
      'Duration of what is asked of the order records, failures included.',
      SECONDS,
      { action: STORE_ACTIONS },
    );
    this.failures = registry.counter(
      'order_store_failures_total',
      'What was asked of the order records in vain.',
      { action: STORE_ACTIONS },
    );
    this.records = registry.gauge('order_records', 'Order records that are held.');
    this.recordsMax = registry.gauge('order_records_max', 'The most that may be held.');
    this.redisUp = registry.gauge(
      'redis_up',
      '1 while Redis takes commands; without REDIS_URL there is no such series.',
    );
    this.counterSeconds = registry
      .histogram(
        'redis_count_seconds',
        'Duration of counting a request in Redis, for limits that replicas share.',
        SECONDS,
      )
      .register();
  }
}
