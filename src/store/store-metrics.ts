import type { Registry } from 'prom-client';
import { counter, histogram } from '../lib/metrics.ts';

const STORE_ACTIONS = ['reserve', 'settle', 'release', 'find', 'void'] as const;
export type StoreAction = (typeof STORE_ACTIONS)[number];

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The metrics of operations on the order records. */
export class StoreMetrics {
  readonly seconds;
  readonly failures;

  constructor(registry: Registry) {
    const labels = { action: STORE_ACTIONS };
    this.seconds = histogram(
      registry,
      'order_store_seconds',
      'Duration of operations on the order records.',
      SECONDS,
      labels,
    );
    this.failures = counter(
      registry,
      'order_store_failures_total',
      'Operations on the order records that failed.',
      labels,
    );
  }
}
