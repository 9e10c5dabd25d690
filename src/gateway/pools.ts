import { Pool } from 'undici';
import { createConnector } from './connect.ts';
import type { Area } from './operations.ts';

export interface PoolOptions {
  readonly gatewayUrl: string;
  /** The most connections over all areas. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
}

export interface Pools extends Readonly<Record<Area, Pool>> {
  /** The path part of the gateway's address, without a slash at its end. */
  readonly prefix: string;
  close(): Promise<void>;
}

// A share of a read's deadline: a host that drops packets fails at connecting, before the deadline blurs why.
export const CONNECT_SHARE = 0.7;

const SHARES: Readonly<Record<Area, number>> = { reads: 0.5, orders: 0.25, rest: 0.25 };

// An idle connection that the gateway closes just as an order is written leaves its outcome unknown.
const ORDER_IDLE_MS = 1_000;
const IDLE_MS = 4_000;
const LONGEST_IDLE_MS = 30_000;

export function createPools({ gatewayUrl, connections, connectTimeoutMs }: PoolOptions): Pools {
  const url = new URL(gatewayUrl);
  const connect = createConnector(url, connectTimeoutMs);
  const pool = (area: Area) => {
    const idleMs = area === 'orders' ? ORDER_IDLE_MS : IDLE_MS;
    return new Pool(url.origin, {
      connections: connectionsOf(area, connections),
      pipelining: 1,
      allowH2: false,
      connect,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: area === 'orders' ? ORDER_IDLE_MS : LONGEST_IDLE_MS,
      // Each call has a deadline of its own, over head and body together.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  };
  const pools = { reads: pool('reads'), orders: pool('orders'), rest: pool('rest') };
  return {
    ...pools,
    prefix: url.pathname.replace(/\/+$/, ''),
    async close() {
      await Promise.all(Object.values(pools).map((each) => each.destroy()));
    },
  };
}

/** The connections of an area, as a share of all. */
export function connectionsOf(area: Area, connections: number): number {
  return Math.max(1, Math.floor(connections * SHARES[area]));
}
