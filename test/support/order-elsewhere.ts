import type { Sandbox } from '../../src/sandbox/start.ts';

/**
 * Places an order at the sandbox directly, like another device outside this service; returns its id, or null if it is
 * refused.
 */
export async function orderElsewhere(
  sandbox: Sandbox,
  email: string,
  order: Readonly<Record<string, unknown>> = {},
): Promise<string | null> {
  const response = await fetch(`${sandbox.url}/trading/positions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${sandbox.token({ email })}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1, ...order }),
  });
  const { success, orderId } = (await response.json()) as { success: boolean; orderId: string };
  return success ? orderId : null;
}
