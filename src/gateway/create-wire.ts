import { type LogicalClock, steadyClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Tracing } from '../lib/tracing/tracing.ts';
import type { CallOutcome } from './caller.ts';
import { callOutcome } from './classify.ts';
import type { ObserveCall, Send, WireCall } from './exchange.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { createLastFailures } from './last-failures.ts';
import type { Area, Backend, GatewayOperation } from './operation.ts';
import { CONNECT_SHARE, createPools } from './pools.ts';
import type { RequestSettings } from './request-templates.ts';
import { createResilience } from './resilience/resilience.ts';
import { withSpans } from './traced.ts';
import { createTransport } from './transport.ts';

/** The parts that the wires of all origins share. */
export interface WireParts {
  readonly logicalClock: LogicalClock;
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  readonly tracing: Tracing | null;
}

interface WireOptions
  extends WireParts,
    Pick<RequestSettings, 'gatewayHeaders' | 'gatewayTimeoutMs'> {
  readonly url: string;
  readonly operations: Readonly<Record<string, GatewayOperation>>;
  /** The most connections of each area. */
  readonly widths: Readonly<Record<Area, number>>;
  /** When false, no read is sent again. */
  readonly retries?: boolean;
  readonly observe?: ObserveCall;
  /** Called when a breaker of the backend has closed. */
  readonly onRecovered?: (backend: Backend) => void;
}

/** Wires all operations of one origin, from their resilience down to the sockets. */
export function createWire(options: WireOptions) {
  const { url, operations, widths, metrics, log, tracing, observe = () => {} } = options;
  const pools = createPools({
    gatewayUrl: url,
    widths,
    connectTimeoutMs: options.gatewayTimeoutMs * CONNECT_SHARE,
  });
  const failures = createLastFailures(url);
  const transport = withContainment(
    createTransport(
      pools,
      (call, outcome, ms, exchange) => {
        metrics.called(call, outcome, ms, exchange);
        observe(call, outcome, ms, exchange);
        failures.saw(call, outcome, exchange);
      },
      options.logicalClock,
    ),
    log,
  );
  const send = tracing === null ? transport : withSpans(transport, tracing, options);
  const resilience = createResilience(send, {
    clock: steadyClock,
    random: Math.random,
    rows: Object.values(operations),
    widths,
    retries: options.retries ?? true,
    onRetry: metrics.retried,
    onCircuit(circuit, state, backend) {
      const failure = state === 'open' ? failures.of(backend) : {};
      log.warn({ circuit, state, ...failure }, 'circuit breaker');
    },
    onRecovered: options.onRecovered,
  });
  metrics.watch(operations, resilience, pools);
  const observed: Send = (call, end) =>
    resilience.send(call, (exchange) => {
      try {
        const outcome = callOutcome(call, exchange);
        if (outcome === 'circuit' || outcome === 'busy') reportUnsent(call, outcome, metrics);
      } finally {
        end(exchange);
      }
    });
  return {
    send: observed,
    resilience,
    /** The backends that fail, and how; null: none. */
    degradedReason: () => resilience.degradedReason((backend) => failures.of(backend)?.cause),
    close: () => pools.close(),
  };
}

/** A bug in a layer above is logged: thrown into a timer it would end the process, with the orders that are under way. */
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

/** The wire reports the calls that reach it; its request learns of the others here. */
function reportUnsent(call: WireCall, outcome: CallOutcome, metrics: GatewayMetrics): void {
  const { operation, caller } = call;
  metrics.heldBack(call, outcome);
  caller.receipt?.({ operation, ms: 0, source: 'call', outcome });
}
