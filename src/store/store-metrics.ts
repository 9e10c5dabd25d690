import type { Registry } from '../lib/metrics/registry.ts';

const STORE_ACTIONS = ['reserve', 'settle', 'release', 'find', 'void'] as const;
export type StoreAction = (typeof STORE_ACTIONS)[number];

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export type StoreMetrics = ReturnType<typeof createStoreMetrics>;

/** The metrics of the stores. */
export function createStoreMetrics(registry: Registry) {
  const seconds = registry.histogram(
    'order_store_seconds',
    'Duration of what is asked of the order records.',
    SECONDS,
    { action: STORE_ACTIONS },
  );
  const failures = registry.counter(
    'order_store_failures_total',
    'What was asked of the order records in vain.',
    { action: STORE_ACTIONS },
  );
  const records = {
    held: registry.gauge('order_records', 'Order records that are held.'),
    max: registry.gauge('order_records_max', 'The most that may be held.'),
  };
  const redisUp = registry.gauge(
    'redis_up',
    '1 while Redis takes commands; without REDIS_URL there is no such series.',
  );
  return { seconds, failures, records, redisUp };
}
