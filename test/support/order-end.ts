import type { OrderEnd } from '../../src/gateway/client.ts';
import type { Exchange } from '../../src/gateway/exchange.ts';
import { submitted } from '../../src/gateway/operations/submitted.ts';

/** The end of an order with this exchange, as the order's operation reads it. */
export function orderEnd(exchange: Exchange): OrderEnd {
  if (!exchange.sent || !exchange.answered) return exchange;
  // Copies the properties without reading them, because a test's exchange may have a property that throws.
  const reply = { value: submitted(exchange), enumerable: true };
  const all = { ...Object.getOwnPropertyDescriptors(exchange), reply };
  return Object.defineProperties({}, all) as OrderEnd;
}
