import { createSecureContext } from 'node:tls';
import { buildConnector, Pool } from 'undici';
import type { Area } from './operation-traits.ts';

// A share of a read's deadline: a host that drops packets fails while connecting, before the deadline hides the cause.
const CONNECT_SHARE = 0.7;

// A connection for an order is idle only if its order was given up. It is closed soon: if the gateway closes a connection
// just as another order is written, the outcome of that order is unknown.
const ORDER_IDLE_MS = 1_000;
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 30_000;
/** An older connection takes no new call, so that all calls follow the gateway's name to a new address. */
const OLDEST_MS = 10_000;

const REUSED = {
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: MAX_IDLE_MS,
  clientTtl: OLDEST_MS,
};
/** Each connection serves one order, so that no other answer can be taken for the order's. */
const FOR_ONE_ORDER = { keepAliveTimeout: ORDER_IDLE_MS, maxRequestsPerClient: 1 };

/** The connections to one origin: a pool for each area. */
export class Pools {
  /** The maximum number of connections in each area. */
  readonly widths: Readonly<Record<Area, number>>;
  /** The path of the origin's address, without a trailing slash. */
  readonly prefix: string;
  readonly byArea = new Map<Area, Pool>();

  /** `timeoutMs`: the deadline of a read. */
  constructor(address: string, widths: Readonly<Record<Area, number>>, timeoutMs: number) {
    const url = new URL(address);
    this.widths = widths;
    this.prefix = url.pathname.replace(/\/+$/, '');
    const connect = buildConnector({
      allowH2: false,
      timeout: timeoutMs * CONNECT_SHARE,
      // All connections share this context. Creating one for each would be a fifth of the cost of connecting.
      ...(url.protocol === 'https:' && { secureContext: createSecureContext() }),
    });
    for (const [area, connections] of Object.entries(widths)) {
      const pool = new Pool(url.origin, {
        ...(area === 'orders' ? FOR_ONE_ORDER : REUSED),
        connections,
        connect,
        pipelining: 1,
        allowH2: false,
        // Each call has its own deadline, for head and body together.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.byArea.set(area, pool);
    }
  }

  of(area: Area): Pool {
    const pool = this.byArea.get(area);
    if (pool === undefined) throw new Error(`no pool for ${area}`);
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all([...this.byArea.values()].map((each) => each.destroy()));
  }
}

/** The maximum number of connections in each of the gateway's areas, as shares of the total. */
export function gatewayWidths(connections: number) {
  const width = (share: number) => Math.max(1, Math.floor(connections * share));
  return { reads: width(0.5), orders: width(0.25), rest: width(0.25) };
}
