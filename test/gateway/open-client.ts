import { GatewayClient, type GatewayClientOptions } from '../../src/gateway/client.ts';
import type { Caller } from '../../src/gateway/exchange.ts';
import { GatewayError } from '../../src/gateway/gateway-error.ts';
import type { MarketOrder } from '../../src/gateway/operations/open-position.ts';
import type { LimitOrder } from '../../src/gateway/operations/place-limit-order.ts';
import { gatewayWidths, Pools, Transport } from '../../src/gateway/transport.ts';
import { LogicalClock } from '../../src/lib/clock.ts';
import { toToken } from '../../src/lib/limits/request-caller.ts';

export interface ClientSettings extends Partial<Omit<GatewayClientOptions, 'send'>> {
  /** The maximum for all areas together; each area has at least one. */
  readonly connections?: number;
  /** Replaces the pools made for `url`. */
  readonly pools?: Pools;
}

/** Long, because the machine may be busy; tests that wait for a deadline set a shorter one. */
const FAR_MS = 30_000;

/** The client with the program's wiring, on its own connections. */
export function openClient(url: string, settings: ClientSettings = {}) {
  const { connections = 128, ...options } = settings;
  const pools = settings.pools ?? new Pools(url, gatewayWidths(connections), FAR_MS);
  const transport = new Transport(pools, new LogicalClock());
  const client = new GatewayClient({
    async send(call) {
      const exchange = await transport.send(call);
      call.caller.receipt?.({ operation: call.operation.name, ms: 0, source: 'call' });
      return exchange;
    },
    ...clientSettings(FAR_MS),
    ...options,
  });
  return { client, pools, [Symbol.asyncDispose]: () => pools.close() };
}

/** The settings of a client without any configuration, with one deadline for all calls. */
export function clientSettings(timeoutMs: number) {
  return {
    gatewayHeaders: {},
    gatewayForwardClient: false,
    gatewayDirectionField: 'direction',
    gatewayMobileWallet: 'mobile-wallet',
    gatewayTimeUnit: 'auto',
    gatewayTimeoutMs: timeoutMs,
    orderTimeoutMs: timeoutMs,
    gatewayMaxBytes: 8_388_608,
    onBroken() {},
    onRead() {},
    onOrderFailed() {},
  } as const;
}

export const anyCaller: Caller = { token: toToken('e30.e30.x') };

export const marketOrder: MarketOrder = {
  symbol: 'AAPL',
  side: 'BUY',
  size: { by: 'units', value: 1 },
  price: null,
  stopLoss: null,
  takeProfit: null,
  comment: null,
};

export const limitOrder: LimitOrder = {
  symbol: 'AAPL',
  side: 'SELL',
  amount: 100,
  price: 500,
  stopLoss: null,
  takeProfit: null,
  comment: null,
};

/** The outcome of a call in one word: an error's kind, an outcome, or `answer`. */
export async function wordFor(call: Promise<unknown>): Promise<string> {
  try {
    const result = await call;
    if (typeof result !== 'object' || result === null) return 'answer';
    if ('outcome' in result) return String(result.outcome);
    if ('kind' in result) return String(result.kind);
    return 'details' in result ? 'rejected' : 'answer';
  } catch (error) {
    if (error instanceof GatewayError) return error.kind;
    throw error;
  }
}
