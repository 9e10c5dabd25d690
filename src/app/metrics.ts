import { collectDefaultMetrics } from 'prom-client';
import { TRADING_LIMITS } from '../domain/auth/limits.ts';
import { DomainMetrics } from '../domain/domain-metrics.ts';
import { ENGINE_LIMITS, FIXED_LIMITS, type Readiness, ServerMetrics } from '../engine/index.ts';
import { GatewayMetrics } from '../gateway/gateway-metrics.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import { GraphMetrics } from '../schema/graph-metrics.ts';

const LIMITS = [...Object.values(ENGINE_LIMITS), ...Object.values(TRADING_LIMITS)];
const LIMIT_LABELS = [
  ...new Set(LIMITS.map(({ label }) => label)),
  ...FIXED_LIMITS,
  'ORDER_RECORDS_PER_ACCOUNT',
  'other',
];

/** The parts of the process that are read at each scrape. */
interface Watched {
  readonly build: { readonly version: string; readonly revision: string };
  readonly readiness: Pick<Readiness, 'parts' | 'phase'>;
  readonly records: { readonly status: { readonly held: number | null } };
  readonly recordsMax: number;
  readonly connections: {
    readonly count: number;
    readonly unread: number;
    readonly unfinished: number;
  };
  readonly maxConnections: number;
  readonly sockets: { readonly size: number };
  readonly caches: Readonly<Record<string, () => number>>;
  readonly trusted: { readonly isUnreadable: boolean };
  readonly memory: { readonly heldShare: number };
  readonly logOutput: { readonly droppedLines: number } | undefined;
}

/** Every metric of the service. */
export class Metrics {
  readonly registry = new MetricsRegistry();
  readonly server = new ServerMetrics(this.registry);
  readonly graph = new GraphMetrics(this.registry, LIMIT_LABELS);
  readonly gateway = new GatewayMetrics(this.registry);
  readonly domain = new DomainMetrics(this.registry);

  /** Adds `process_*` and `nodejs_*`. */
  countProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    // Gauges with names of counters, each a sum of another gauge: promtool refuses the names.
    for (const kind of ['handles', 'requests', 'resources']) {
      this.registry.removeSingleMetric(`nodejs_active_${kind}_total`);
    }
  }

  /** Adds the gauges. */
  watch(parts: Watched): void {
    const { registry } = this;
    registry.gauge(
      'order_records',
      'Order records that are held.',
      () => parts.records.status.held,
    );
    registry.gauge(
      'order_records_max',
      'The most order records that may be held.',
      () => parts.recordsMax,
    );
    registry.gauge('sockets', 'WebSockets that are open.', () => parts.sockets.size);
    registry.gauge(
      'send_buffer_bytes',
      'Bytes that clients have not read.',
      () => parts.connections.unread,
    );
    registry.gauge(
      'receive_buffer_bytes',
      'Bytes of unfinished messages.',
      () => parts.connections.unfinished,
    );
    registry.gauge(
      'manifest_unreadable',
      '1 while the manifest of trusted documents cannot be read.',
      () => Number(parts.trusted.isUnreadable),
    );
    registry.gauge(
      'memory_held_share',
      'Share of the heap limit that the last major garbage collection left.',
      () => parts.memory.heldShare,
    );
    registry.gauge('ready', '0 while the process starts or drains.', () =>
      Number(parts.readiness.phase === 'serving'),
    );
    registry.tally(
      'log_lines_dropped_total',
      'Lines of the log that were dropped.',
      () => parts.logOutput?.droppedLines ?? 0,
    );
    registry.gauges(
      'connections',
      'Connections of the public port, and their bound.',
      ['state'],
      () => [
        [parts.connections.count, 'open'],
        [parts.maxConnections, 'max'],
      ],
    );
    registry.gauges('cache_bytes', 'Estimated size of a cache.', ['cache'], () =>
      Object.entries(parts.caches).map(([name, byteSize]) => [byteSize(), name]),
    );
    registry.gauges('degraded', '1 while readiness names the reason.', ['reason'], () =>
      parts.readiness.parts.map(([reason, is]) => [Number(is()), reason]),
    );
    registry.gauges(
      'build_info',
      'Always 1; the labels say what runs.',
      ['version', 'revision', 'node'],
      () => [[1, parts.build.version, parts.build.revision, process.version]],
    );
  }
}
