import { keyOf } from './order-keys.ts';

/** A mutation that buys one unit of AAPL under the key with this name. */
export function buying(name: string, selected: string): string {
  const input = `symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "${keyOf(name)}"`;
  return `mutation { placeOrder(input: { ${input} }) { ${selected} } }`;
}
