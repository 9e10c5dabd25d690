import { collectDefaultMetrics, Registry } from 'prom-client';
import { TRADING_LIMITS } from '../domain/auth/limits.ts';
import { DomainMetrics } from '../domain/domain-metrics.ts';
import { ENGINE_LIMITS, FIXED_LIMITS, type Readiness, ServerMetrics } from '../engine/index.ts';
import { GatewayMetrics } from '../gateway/gateway-metrics.ts';
import { gauge, gauges, tally } from '../lib/metrics.ts';
import { GraphMetrics } from '../schema/graph-metrics.ts';
import { StoreMetrics } from '../store/store-metrics.ts';

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
  readonly connections: {
    readonly count: number;
    readonly unread: number;
    readonly unfinished: number;
  };
  readonly maxConnections: number;
  readonly sockets: { readonly size: number };
  readonly caches: Readonly<Record<string, () => number>>;
  readonly trusted: { readonly isUnreadable: boolean } | null;
  readonly memory: { readonly heldShare: number };
  readonly logOutput: { readonly droppedLines: number } | undefined;
}

type Measure = (parts: Watched) => number | undefined;

const GAUGES: readonly (readonly [name: string, help: string, measure: Measure])[] = [
  ['sockets', 'WebSockets that are open.', ({ sockets }) => sockets.size],
  [
    'send_buffer_bytes',
    'Bytes that clients have not read.',
    ({ connections }) => connections.unread,
  ],
  [
    'receive_buffer_bytes',
    'Bytes of unfinished messages.',
    ({ connections }) => connections.unfinished,
  ],
  [
    'manifest_unreadable',
    '1 while the manifest of trusted documents cannot be read.',
    ({ trusted }) => Number(trusted?.isUnreadable ?? false),
  ],
  [
    'memory_held_share',
    'Share of the heap limit that the last major garbage collection left.',
    ({ memory }) => memory.heldShare,
  ],
  [
    'ready',
    '0 while the process starts or drains.',
    ({ readiness }) => Number(readiness.phase === 'serving'),
  ],
];

/** Every metric of the service, in the order of docs/metrics.md. */
export class Metrics {
  readonly registry = new Registry();
  readonly server = new ServerMetrics(this.registry);
  readonly graph = new GraphMetrics(this.registry, LIMIT_LABELS);
  readonly gateway = new GatewayMetrics(this.registry);
  readonly domain = new DomainMetrics(this.registry);
  readonly store = new StoreMetrics(this.registry);
  #watched: Watched | null = null;

  constructor() {
    const { registry } = this;
    for (const [name, help, measure] of GAUGES) {
      gauge(registry, name, help, () => this.#watched && measure(this.#watched));
    }
    tally(
      registry,
      'log_lines_dropped_total',
      'Lines of the log that were dropped.',
      () => this.#watched?.logOutput?.droppedLines,
    );
    gauges(
      registry,
      'connections',
      'Connections of the public port, and their bound.',
      ['state'],
      () =>
        this.#watched
          ? [
              [this.#watched.connections.count, 'open'],
              [this.#watched.maxConnections, 'max'],
            ]
          : [],
    );
    gauges(registry, 'cache_bytes', 'Estimated size of a cache.', ['cache'], () =>
      Object.entries(this.#watched?.caches ?? {}).map(([name, byteSize]) => [byteSize(), name]),
    );
    gauges(registry, 'degraded', '1 while readiness names the reason.', ['reason'], () =>
      (this.#watched?.readiness.parts ?? []).map(([reason, is]) => [Number(is()), reason]),
    );
    gauges(
      registry,
      'build_info',
      'Always 1; the labels say what runs.',
      ['version', 'revision', 'node'],
      () => {
        const build = this.#watched?.build;
        return build ? [[1, build.version, build.revision, process.version]] : [];
      },
    );
  }

  /** Adds `process_*` and `nodejs_*`. */
  countProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    // Gauges that are named like counters, each a sum of another one: promtool refuses the names.
    for (const kind of ['handles', 'requests', 'resources']) {
      this.registry.removeSingleMetric(`nodejs_active_${kind}_total`);
    }
  }

  watch(parts: Watched): void {
    this.#watched = parts;
  }
}
