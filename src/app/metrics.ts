import { collectDefaultMetrics } from 'prom-client';
import { TRADING_LIMITS } from '../domain/auth/trading-limits.ts';
import { DomainMetrics } from '../domain/domain-metrics.ts';
import {
  ENGINE_LIMITS,
  type Engine,
  FIXED_LIMITS,
  ServerMetrics,
  type TrustedDocuments,
} from '../engine/index.ts';
import { CODES_OF_CALLS } from '../gateway/gateway-error.ts';
import { GatewayMetrics } from '../gateway/gateway-metrics.ts';
import { OPERATION_NAMES } from '../gateway/operations.ts';
import { ERROR_CODES } from '../lib/error-codes.ts';
import type { LogOutput } from '../lib/log-output.ts';
import { MetricsRegistry } from '../lib/metrics-registry.ts';
import type { OrderRecords } from '../store/order-records.ts';
import type { MemoryWatch } from './memory-watch.ts';

const LIMITS = [...Object.values(ENGINE_LIMITS), ...Object.values(TRADING_LIMITS)];
const LIMIT_LABELS = [
  ...new Set(LIMITS.map(({ label }) => label)),
  ...FIXED_LIMITS,
  'ORDER_RECORDS_PER_ACCOUNT',
  'other',
];

interface Watched {
  readonly build: { readonly version: string; readonly revision: string };
  readonly engine: Engine;
  readonly records: OrderRecords;
  readonly recordsMax: number;
  readonly caches: Readonly<Record<string, () => number>>;
  readonly trusted: TrustedDocuments;
  readonly memory: MemoryWatch;
  readonly logOutput: LogOutput | undefined;
}

export class Metrics {
  readonly registry = new MetricsRegistry();
  readonly server = new ServerMetrics(this.registry);
  readonly graph = new GraphMetrics(this.registry, LIMIT_LABELS);
  readonly gateway = new GatewayMetrics(this.registry);
  readonly domain = new DomainMetrics(this.registry);

  countProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    // promtool refuses these gauges, because they have names of counters. Each is only a sum of another gauge.
    for (const kind of ['handles', 'requests', 'resources']) {
      this.registry.removeSingleMetric(`nodejs_active_${kind}_total`);
    }
  }

  watch(watched: Watched): void {
    const { registry } = this;
    const { build, caches, engine, logOutput, memory, records, recordsMax, trusted } = watched;
    registry.gauge('order_records', 'Order records that are held.', () => records.status.count);
    registry.tally(
      'order_losses_total',
      'Losses of order records that this process has seen.',
      () => records.status.losses,
    );
    registry.gauge(
      'orders_unsettled',
      'Orders of unknown outcome that are not settled.',
      () => records.status.unsettled,
    );
    registry.gauge(
      'order_records_max',
      'The most order records that may be held.',
      () => recordsMax,
    );
    registry.gauge('sockets', 'WebSockets that are open.', () => engine.server.webSockets.size);
    registry.gauge(
      'send_buffer_bytes',
      'Bytes that clients have not read.',
      () => engine.openConnections.unread,
    );
    registry.gauge(
      'receive_buffer_bytes',
      'Bytes of unfinished messages.',
      () => engine.openConnections.unfinished,
    );
    registry.gauge(
      'manifest_unreadable',
      '1 while the manifest of trusted documents cannot be read.',
      () => Number(trusted.isUnreadable),
    );
    registry.gauge(
      'memory_held_share',
      'Share of the heap limit that the last major garbage collection left.',
      () => memory.heldShare,
    );
    registry.gauge('ready', '0 while the process starts or drains.', () =>
      Number(engine.readiness.phase === 'serving'),
    );
    registry.tally(
      'log_lines_dropped_total',
      'Lines of the log that were dropped.',
      () => logOutput?.droppedLines ?? 0,
    );
    registry.gauges(
      'connections',
      'Connections of the public port, and their bound.',
      ['state'],
      () => [
        [engine.openConnections.count, 'open'],
        [engine.connections.most, 'max'],
      ],
    );
    registry.gauges('cache_bytes', 'Estimated size of a cache.', ['cache'], () =>
      Object.entries(caches).map(([name, byteSize]) => [byteSize(), name]),
    );
    registry.gauges('degraded', '1 while readiness names the reason.', ['reason'], () =>
      engine.readiness.parts.map(([reason, isDegraded]) => [Number(isDegraded()), reason]),
    );
    registry.gauges(
      'build_info',
      'Always 1; the labels name the build.',
      ['version', 'revision', 'node'],
      () => [[1, build.version, build.revision, process.version]],
    );
  }
}

export class GraphMetrics {
  readonly #errors;
  readonly #refusals;
  readonly #limits: readonly string[];

  constructor(registry: MetricsRegistry, limits: readonly string[]) {
    this.#limits = limits;
    this.#errors = registry.counter(
      'errors_total',
      'Errors in answers, by code and failed gateway call; none: no call.',
      { code: [...Object.keys(ERROR_CODES), 'other'], operation: ['none'] },
    );
    for (const code of CODES_OF_CALLS) {
      for (const operation of OPERATION_NAMES) this.#errors.inc({ code, operation }, 0);
    }
    this.#refusals = registry.counter(
      'refusals_total',
      'Requests, fields and sockets that exceeded a limit of the service.',
      { limit: limits },
    );
  }

  /** Plugins may add errors with any code and operation. */
  error(code: unknown, operation: unknown): void {
    const known = Object.keys(ERROR_CODES).find((name) => name === code) ?? 'other';
    const call = OPERATION_NAMES.find((name) => name === operation);
    const isOfCall = call !== undefined && (CODES_OF_CALLS as ReadonlySet<string>).has(known);
    this.#errors.inc({ code: known, operation: isOfCall ? call : 'none' });
  }

  refusal(limit: unknown): void {
    this.#refusals.inc({ limit: this.#limits.find((name) => name === limit) ?? 'other' });
  }
}
