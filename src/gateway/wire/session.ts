import type { AccountAccess, Session } from '../model.ts';
import { toOrders, toPositions, type WireOrder, type WirePosition } from './holding.ts';
import { flag, instant, integer, isRow, number, type TimeUnit, text } from './scalars.ts';

/** The account snapshot as the gateway sends it. */
export interface WireSession {
  login: number;
  balance: number;
  credit: number;
  storage: number;
  assets: number;
  prevEquity: number;
  prevBalance: number;
  leverage: number;
  group: string;
  server: string;
  createdAt: number;
  kyc_status: string;
  equity: number;
  Invested: number;
  Profits: number;
  access: {
    id: string;
    name: string;
    currency: string;
    currencyDigits: number;
    isHedged: boolean;
    noPl: boolean;
  };
  positions: WirePosition[];
  orders: WireOrder[];
  currency: string;
}

/**
 * Null where the answer is no snapshot of this login, or a list in it breaks the interface. The
 * interface does not say which fields are required, so a missing one is null; a login that is there
 * and differs would be another client's account.
 */
export function toSession(body: unknown, login: string, unit: TimeUnit): Session | null {
  if (!isRow(body)) return null;
  const named = body.login;
  if (named !== undefined && named !== null && String(named) !== login) return null;
  const positions = body.positions == null ? null : toPositions(body.positions, unit);
  const orders = body.orders == null ? null : toOrders(body.orders, unit);
  if (positions === null && body.positions != null) return null;
  if (orders === null && body.orders != null) return null;
  return {
    login,
    group: text(body.group),
    server: text(body.server),
    currency: text(body.currency),
    balance: number(body.balance),
    credit: number(body.credit),
    equity: number(body.equity),
    storage: number(body.storage),
    assets: number(body.assets),
    prevEquity: number(body.prevEquity),
    prevBalance: number(body.prevBalance),
    leverage: number(body.leverage),
    invested: number(body.Invested),
    profits: number(body.Profits),
    kycStatus: text(body.kyc_status),
    createdAt: instant(body.createdAt, unit),
    access: toAccess(body.access),
    positions,
    orders,
  };
}

function toAccess(value: unknown): AccountAccess | null {
  if (!isRow(value)) return null;
  return {
    id: text(value.id),
    name: text(value.name),
    currency: text(value.currency),
    currencyDigits: integer(value.currencyDigits),
    isHedged: flag(value.isHedged),
    noPl: flag(value.noPl),
  };
}
