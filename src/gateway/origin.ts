import { type LogicalClock, steadyClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Tracing } from '../lib/tracing/tracing.ts';
import { callOutcome } from './classify.ts';
import { GatewayClient, type GatewayClientOptions } from './client.ts';
import type { ObserveCall, Send, WireCall } from './exchange.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { LastFailures } from './last-failures.ts';
import type { Area, Backend, DescribedOperation } from './operation.ts';
import { CONNECT_SHARE, createPools, type Pools } from './pools.ts';
import { createResilience, type Resilience } from './resilience/resilience.ts';
import { withSpans } from './traced.ts';
import { createTransport } from './transport.ts';

/** The parts that all origins share. */
export interface OriginParts {
  readonly logicalClock: LogicalClock;
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  readonly tracing: Tracing | null;
}

/** The settings of the calls. */
export type OriginSettings = Omit<
  GatewayClientOptions,
  'send' | 'onBroken' | 'onRead' | 'onOrderFailed'
>;

interface OriginOptions extends OriginParts, OriginSettings {
  readonly url: string;
  readonly operations: Readonly<Record<string, DescribedOperation>>;
  /** The most connections of each area. */
  readonly widths: Readonly<Record<Area, number>>;
  readonly observe?: ObserveCall;
  /** Called when a breaker of the backend has closed. */
  readonly onRecovered?: (backend: Backend) => void;
}

/** A service that is called over HTTP: a client for its operations, with resilience, metrics, spans and connections. */
export class Origin {
  readonly client: GatewayClient;
  readonly resilience: Resilience;
  readonly #pools: Pools;
  readonly #failures: LastFailures;

  constructor(options: OriginOptions) {
    const { url, operations, widths, metrics, log, tracing } = options;
    const pools = createPools({
      gatewayUrl: url,
      widths,
      connectTimeoutMs: options.gatewayTimeoutMs * CONNECT_SHARE,
    });
    const failures = new LastFailures();
    const observe: ObserveCall = (call, outcome, ms, exchange) => {
      metrics.called(call, outcome, ms);
      options.observe?.(call, outcome, ms, exchange);
      failures.saw(call, outcome, exchange);
    };
    const transport = withContainment(createTransport(pools, observe, options.logicalClock), log);
    this.resilience = createResilience(
      tracing === null ? transport : withSpans(transport, tracing, options),
      {
        clock: steadyClock,
        random: Math.random,
        rows: Object.values(operations),
        widths,
        onRetry: metrics.retried,
        onCircuit(circuit, state, backend) {
          const failure = state === 'open' ? failures.of(backend) : {};
          log.warn({ circuit, state, ...failure }, 'circuit breaker');
        },
        onRecovered: options.onRecovered,
      },
    );
    metrics.watch(operations, this.resilience, pools);
    this.client = new GatewayClient({
      ...options,
      send: reportingUnsent(this.resilience.send, metrics),
      onBroken: metrics.answerBroken,
      onRead: metrics.answerRead,
      onOrderFailed: (operation, error) =>
        log.error({ operation, err: error }, 'the file of an order failed'),
    });
    this.#pools = pools;
    this.#failures = failures;
  }

  /** The failing backends and their causes; null: none. */
  degradedReason(): string | null {
    return this.resilience.degradedReason((backend) => this.#failures.of(backend)?.cause);
  }

  close(): Promise<void> {
    return this.#pools.close();
  }
}

/** Logs an error of a layer above: thrown into a timer it would end the process, with the orders under way. */
function withContainment(send: Send, log: Pick<Log, 'error'>): Send {
  return (call, end) =>
    send(call, (exchange) => {
      try {
        end(exchange);
      } catch (error) {
        log.error({ err: error }, 'a layer around a call of the gateway failed');
      }
    });
}

/** Reports the calls that never reach the transport, which reports all others. */
function reportingUnsent(send: Send, metrics: GatewayMetrics): Send {
  const report = (call: WireCall, outcome: 'circuit' | 'busy') => {
    metrics.heldBack(call, outcome);
    call.caller.receipt?.({ operation: call.operation, ms: 0, source: 'call', outcome });
  };
  return (call, end) =>
    send(call, (exchange) => {
      try {
        const outcome = callOutcome(call, exchange);
        if (outcome === 'circuit' || outcome === 'busy') report(call, outcome);
      } finally {
        end(exchange);
      }
    });
}
