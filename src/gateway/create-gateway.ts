import { steadyClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { GatewayClient, type GatewayClientOptions } from './client.ts';
import type { Exchange } from './exchange.ts';
import { connectionsOf, createPools } from './pools.ts';
import { Resilience } from './resilience/resilience.ts';
import { createTransport } from './transport.ts';

export interface GatewayOptions extends Omit<GatewayClientOptions, 'send'> {
  readonly url: string;
  /** The most connections over all areas. */
  readonly connections: number;
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface Gateway {
  readonly client: GatewayClient;
  readonly resilience: Resilience;
  close(): Promise<void>;
}

// A share of a read's deadline: a host that drops packets fails at connecting, before the deadline blurs why.
const CONNECT_SHARE = 0.7;

/** Wires the client of the gateway, from its methods down to the sockets. */
export function createGateway(options: GatewayOptions): Gateway {
  const { url, connections, metrics, log, timeoutMs } = options;
  const pools = createPools({
    gatewayUrl: url,
    connections,
    connectTimeoutMs: timeoutMs * CONNECT_SHARE,
  });
  const send = createTransport(pools, (operation, exchange, ms) =>
    metrics.gatewayCalls.observe({ operation, outcome: outcomeOf(exchange) }, ms / 1000),
  );
  const resilience = new Resilience(send, {
    clock: steadyClock,
    random: Math.random,
    pollConnections: Math.ceil(connectionsOf('reads', connections) / 2),
    onCircuit: (backend, state) => log.warn({ backend, state }, 'circuit breaker'),
  });
  return {
    client: new GatewayClient({ ...options, send: resilience.send }),
    resilience,
    close: () => pools.close(),
  };
}

const STATUS_CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx', '6xx', '7xx', '8xx', '9xx'];

/** The outcome of a call on the wire as one word for operators, however it is judged. */
function outcomeOf(exchange: Exchange): string {
  if (!exchange.sent) return 'not-sent';
  if (!exchange.answered) return exchange.reason;
  return STATUS_CLASSES[Math.floor(exchange.status / 100)] ?? 'odd';
}
