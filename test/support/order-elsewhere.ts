import type { Sandbox } from '../../src/sandbox/start.ts';
import { askGateway, type OrderChange, orderBody } from './ask-gateway.ts';

/**
 * Places an order at the sandbox directly, like another device outside this service; returns its id, or null if it is
 * refused.
 */
export async function orderElsewhere(
  sandbox: Sandbox,
  email: string,
  order: OrderChange = {},
): Promise<string | null> {
  const token = sandbox.token({ email });
  const placed = sandbox.orders().length;
  await askGateway(sandbox.url, 'openPosition', { token, body: orderBody(order) });
  return sandbox.orders()[placed]?.orderId ?? null;
}
