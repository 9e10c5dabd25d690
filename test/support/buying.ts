/** A mutation that buys one unit of AAPL under this key. */
export function buying(key: string, selected: string): string {
  const input = `symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "${key}"`;
  return `mutation { placeOrder(input: { ${input} }) { ${selected} } }`;
}
