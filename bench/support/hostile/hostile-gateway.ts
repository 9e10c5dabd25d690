import { startLiveGateway } from '../live-gateway.ts';
import { placeOrder } from '../place-order.ts';

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
const ORDER = { symbol: 'EURUSD', type: 'unit', amount: 1 } as const;
const NEVER_REACHED = 0.01;

/** The sandbox gateway with an account that holds one symbol over and over. */
export async function startHostileGateway(holdings: Holdings): Promise<HostileGateway> {
  await using opened = new AsyncDisposableStack();
  const gateway = opened.use(await startLiveGateway(holdings));
  const [hostile = '', ...bystanders] = gateway.tokens(1 + BYSTANDERS, 1);
  for (let placed = 0; placed < holdings.positions; placed += AT_ONCE) {
    const some = Math.min(AT_ONCE, holdings.positions - placed);
    await Promise.all(
      Array.from({ length: some }, async () => {
        await placeOrder(gateway, hostile, ORDER);
        await placeOrder(gateway, hostile, { ...ORDER, price: NEVER_REACHED });
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
