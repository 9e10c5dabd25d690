import { TRADING_LIMITS } from '../domain/auth/limits.ts';
import { createDomainMetrics } from '../domain/domain-metrics.ts';
import {
  createServerMetrics,
  ENGINE_LIMITS,
  FIXED_LIMITS,
  type Readiness,
} from '../engine/index.ts';
import { GatewayMetrics } from '../gateway/gateway-metrics.ts';
import { BACKGROUND_TASKS } from '../lib/fire-and-forget.ts';
import { Registry } from '../lib/metrics/registry.ts';
import { createGraphMetrics } from '../schema/graph-metrics.ts';
import { createStoreMetrics } from '../store/store-metrics.ts';

/** The names of the tables' limits; `other` is a limit of a schema's own field. */
const LIMIT_LABELS = [
  ...new Set([
    ...[...Object.values(ENGINE_LIMITS), ...Object.values(TRADING_LIMITS)].map(
      ({ label }) => label,
    ),
    ...FIXED_LIMITS,
    'ORDER_RECORDS_PER_ACCOUNT',
    'other',
  ]),
];

/** Every metric of the service, registered in the order of docs/metrics.md. */
export class Metrics {
  readonly registry = new Registry();
  readonly server = createServerMetrics(this.registry);
  readonly graph = createGraphMetrics(this.registry, LIMIT_LABELS);
  readonly gateway = new GatewayMetrics(this.registry);
  readonly domain = createDomainMetrics(this.registry);
  readonly store = createStoreMetrics(this.registry);
  readonly degraded = this.registry.gauge(
    'degraded',
    '1 while readiness names the reason.',
    'reason',
  );
  readonly spansDropped = this.registry.counter('spans_dropped_total', 'Spans that were dropped.', {
    reason: ['queue_full', 'export'],
  });
  readonly logLinesDropped = this.registry.tally(
    'log_lines_dropped_total',
    'Lines of the log that were dropped.',
  );
  readonly backgroundFailures = this.registry.counter(
    'background_failures_total',
    'Background work that failed; the log has the error.',
    { task: BACKGROUND_TASKS },
  );
  readonly memoryHeldShare = this.registry.gauge(
    'memory_held_share',
    'What the last major garbage collection left, as a share of the heap’s limit.',
  );
  readonly ready = this.registry.gauge('ready', '0 while the process starts or drains.');
  readonly buildInfo = this.registry.gauge(
    'build_info',
    'Always 1; the labels say what runs.',
    'version',
    'revision',
    'node',
  );

  showReadiness(readiness: Readiness): void {
    for (const [code, isDegraded] of readiness.parts) {
      this.degraded.from(() => Number(isDegraded()), code);
    }
    this.ready.from(() => (readiness.phase === 'serving' ? 1 : 0));
  }
}
