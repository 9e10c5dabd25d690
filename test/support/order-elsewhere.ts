import { SUBMITTED } from '../../src/gateway/operations/submitted.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
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
  const body = orderBody(order);
  const response = await askGateway(sandbox.url, 'openPosition', { token, body });
  const read = SUBMITTED.read(await response.json(), readingIn('auto'));
  return read?.success ? (read.orderId?.shown ?? null) : null;
}
