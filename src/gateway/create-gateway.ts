import { steadyClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { GatewayClient, type GatewayClientOptions } from './client.ts';
import { outcomeOf } from './outcome.ts';
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
