import { request } from 'undici';
import type { LiveGateway } from './live-gateway.ts';

export interface Order {
  readonly symbol: string;
  readonly type: 'unit' | 'amount';
  readonly amount: number;
  readonly price?: number;
}

/** Buys at the sandbox gateway, past any contestant. */
export async function placeOrder(
  { url }: Pick<LiveGateway, 'url'>,
  token: string,
  order: Order,
): Promise<void> {
  const { statusCode, body } = await request(`${url}/trading/positions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...order, direction: 'buy' }),
  });
  const { success, message } = (await body.json()) as { success?: boolean; message?: string };
  if (success !== true) throw new Error(`an order was refused: ${statusCode} ${message}`);
}
