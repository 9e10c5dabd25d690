import { type LogicalClock, steadyClock, systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Tracing } from '../../lib/tracing/tracing.ts';
import type { CallOutcome } from './caller.ts';
import { callOutcome } from './classify.ts';
import { GatewayClient, type GatewayClientOptions } from './client.ts';
import { ClockSkew } from './clock-skew.ts';
import type { Send, WireCall } from './exchange.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { LastFailures } from './last-failures.ts';
import { CONNECT_SHARE, connectionsOf, createPools } from './pools.ts';
import { forwardsTrace } from './request-templates.ts';
import { Resilience } from './resilience/resilience.ts';
import { withSpans } from './traced.ts';
import { createTransport } from './transport.ts';

export interface GatewayOptions
  extends Omit<GatewayClientOptions, 'send' | 'onBroken' | 'onInexact'> {
  readonly url: string;
  readonly logicalClock: LogicalClock;
  /** The most connections over all areas. */
  readonly gatewayConnections: number;
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  readonly tracing: Tracing | null;
}

export type Gateway = ReturnType<typeof createGateway>;

/** Wires the client of the gateway, from its methods down to the sockets. */
export function createGateway(options: GatewayOptions) {
  const { url, gatewayConnections: connections, metrics, log, tracing } = options;
  const pools = createPools({
    gatewayUrl: url,
    connections,
    connectTimeoutMs: options.gatewayTimeoutMs * CONNECT_SHARE,
  });
  const failures = new LastFailures(url);
  const clockSkew = new ClockSkew(systemClock);
  const transport = createTransport(
    pools,
    (call, outcome, ms, exchange, endedAtMs) => {
      metrics.called(call, outcome, ms, exchange);
      clockSkew.saw(call, exchange, endedAtMs);
      failures.saw(call, outcome, exchange);
    },
    options.logicalClock,
  );
  const send =
    tracing === null
      ? transport
      : withSpans(transport, {
          tracing,
          url,
          forwardsTrace: forwardsTrace(options.gatewayHeaders),
        });
  const resilience = new Resilience(send, {
    clock: steadyClock,
    random: Math.random,
    connections,
    onRetry: metrics.retried,
    onCircuit(circuit, state, backend) {
      const failure = state === 'open' ? failures.of(backend) : {};
      log.warn({ circuit, state, ...failure }, 'circuit breaker');
    },
  });
  metrics.watch(resilience, pools, (area) => connectionsOf(area, connections));
  metrics.clockSkew.from(() => (clockSkew.ms === null ? null : clockSkew.ms / 1000));
  const observed: Send = (call) =>
    resilience.send(call).then((exchange) => {
      const outcome = callOutcome(call, exchange);
      if (outcome === 'circuit' || outcome === 'busy') reportUnsent(call, outcome, metrics);
      return exchange;
    });
  return {
    client: new GatewayClient({
      ...options,
      send: observed,
      onBroken: (operation) => metrics.brokenAnswers.add(operation),
      onInexact: (operation, figures) => metrics.inexactFigures[operation]?.add(figures),
    }),
    resilience,
    clockSkew,
    /** The backends that fail, and how, else a clock that is wrong; null: neither. */
    degradedReason: () =>
      resilience.degradedReason((backend) => failures.of(backend)?.cause) ??
      clockSkew.degradedReason(),
    close: () => pools.close(),
  };
}

/** The wire reports the calls that reach it; its request learns of the others here. */
function reportUnsent(call: WireCall, outcome: CallOutcome, metrics: GatewayMetrics): void {
  const { operation, caller } = call;
  metrics.heldBack(call, outcome);
  caller.receipt?.({ operation, ms: 0, source: 'call', outcome });
}
