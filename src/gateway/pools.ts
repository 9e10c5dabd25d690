import { createSecureContext } from 'node:tls';
import { buildConnector, Pool } from 'undici';
import type { Area } from './operation.ts';

interface PoolOptions {
  readonly gatewayUrl: string;
  /** The maximum number of connections in each area. */
  readonly widths: Readonly<Record<Area, number>>;
  /** The deadline of a read. */
  readonly timeoutMs: number;
}

export type Pools = ReturnType<typeof createPools>;

// A share of a read's deadline: a host that drops packets fails while connecting, before the deadline hides the cause.
const CONNECT_SHARE = 0.7;

// An idle connection was opened for an order that was given up. It is closed soon: if the gateway closes a connection just
// as an order is written, the order's outcome is unknown.
const ORDER_IDLE_MS = 1_000;
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 30_000;
/** An older connection takes no new call, so that all calls follow the gateway's name to a new address. */
const OLDEST_MS = 10_000;

export function createPools({ gatewayUrl, widths, timeoutMs }: PoolOptions) {
  const url = new URL(gatewayUrl);
  const connect = buildConnector({
    allowH2: false,
    timeout: timeoutMs * CONNECT_SHARE,
    // Otherwise each connection would create its own context, a fifth of the cost of connecting.
    ...(url.protocol === 'https:' && { secureContext: createSecureContext() }),
  });
  const pool = (connections: number, options: Pool.Options) =>
    new Pool(url.origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      connect,
      // Each call has its own deadline, for head and body together.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...options,
    });
  const kept = {
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    clientTtl: OLDEST_MS,
  };
  // Each connection serves one order, so that no other answer can be taken for the order's.
  const own = { keepAliveTimeout: ORDER_IDLE_MS, maxRequestsPerClient: 1 };
  const byArea = new Map<Area, Pool>();
  for (const [area, most] of Object.entries(widths)) {
    byArea.set(area, pool(most, area === 'orders' ? own : kept));
  }
  return {
    byArea,
    widths,
    of(area: Area): Pool {
      const pool = byArea.get(area);
      if (pool === undefined) throw new Error(`no pool for ${area}`);
      return pool;
    },
    /** The path of the gateway's address, without a trailing slash. */
    prefix: url.pathname.replace(/\/+$/, ''),
    async close() {
      await Promise.all([...byArea.values()].map((each) => each.destroy()));
    },
  };
}

/** The maximum number of connections in each of the gateway's areas, as shares of the total. */
export function gatewayWidths(connections: number) {
  const width = (share: number) => Math.max(1, Math.floor(connections * share));
  return { reads: width(0.5), orders: width(0.25), rest: width(0.25) };
}
