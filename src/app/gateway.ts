import type { Config } from '../config.ts';
import { createGateway, type Gateway, type GatewayOptions } from '../gateway/create-gateway.ts';

/** The client of the gateway that the configuration describes; `url` is the embedded one's in sandbox mode. */
export function createConfiguredGateway(
  config: Config,
  parts: Pick<GatewayOptions, 'url' | 'metrics' | 'log' | 'tracing' | 'speedSliceMs'>,
): Gateway {
  return createGateway({
    ...parts,
    connections: config.gatewayConnections,
    headers: config.gatewayHeaders,
    forwardClient: config.gatewayForwardClient,
    directionField: config.gatewayDirectionField,
    mobileWallet: config.gatewayMobileWallet,
    timeUnit: config.gatewayTimeUnit,
    timeoutMs: config.gatewayTimeoutMs,
    orderTimeoutMs: config.orderTimeoutMs,
    catalogTimeoutMs: config.catalogTimeoutMs,
    maxBytes: config.gatewayMaxBytes,
    catalogMaxBytes: config.catalogMaxBytes,
  });
}
