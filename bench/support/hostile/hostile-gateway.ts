import { request } from 'undici';
import { type LiveGateway, startLiveGateway } from '../live-gateway.ts';

export interface HostileGateway extends AsyncDisposable {
  readonly url: string;
  /** The token of the account that holds so much. */
  readonly hostile: string;
  /** The tokens of the other accounts, whose latency is measured. */
  readonly bystanders: readonly string[];
}

export interface Holdings {
  readonly instruments: number;
  /** Open positions in one symbol, and as many pending orders. */
  readonly positions: number;
  /** The interval at which the market moves. */
  readonly tickMs: number;
}

const BYSTANDERS = 4;
const AT_ONCE = 20;
// So little of it can be bought that any account can afford hundreds of positions.
const SYMBOL = 'EURUSD';
const SMALLEST = 1;
const NEVER_REACHED = 0.01;

/** The sandbox gateway with an account that holds one symbol over and over. */
export async function startHostileGateway(holdings: Holdings): Promise<HostileGateway> {
  await using opened = new AsyncDisposableStack();
  const gateway = opened.use(await startLiveGateway(holdings));
  const [hostile = '', ...bystanders] = await gateway.tokens(1 + BYSTANDERS, 1);
  for (let placed = 0; placed < holdings.positions; placed += AT_ONCE) {
    const some = Math.min(AT_ONCE, holdings.positions - placed);
    await Promise.all(
      Array.from({ length: some }, async () => {
        await place(gateway, hostile, {});
        await place(gateway, hostile, { price: NEVER_REACHED });
      }),
    );
  }
  const resources = opened.move();
  return {
    url: gateway.url,
    hostile,
    bystanders,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function place(gateway: LiveGateway, token: string, terms: object): Promise<void> {
  const order = { symbol: SYMBOL, direction: 'buy', type: 'unit', amount: SMALLEST, ...terms };
  const { statusCode, body } = await request(`${gateway.url}/trading/positions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  const { success, message } = (await body.json()) as { success?: boolean; message?: string };
  if (success !== true) throw new Error(`an order was refused: ${statusCode} ${message}`);
}
