import type { AccountAccess, Position, Session, SnapshotPositions } from '../model.ts';
import { toOrders, toPositions, type WireOrder, type WirePosition } from './holding.ts';
import * as read from './scalars.ts';
import { type Filled, type InexactFigures, isRow, type TimeUnit } from './scalars.ts';

type Renamed = 'invested' | 'profits' | 'kycStatus';

/** The account snapshot as the gateway sends it. */
export interface WireSession
  extends Filled<Omit<Session, Renamed | 'login' | 'access' | 'positions' | 'orders'>> {
  /** A login of either type is compared with the token's. */
  login: number;
  Invested: number;
  Profits: number;
  kyc_status: string;
  access: Filled<AccountAccess>;
  positions: readonly WirePosition[];
  orders: readonly WireOrder[];
}

/**
 * Null where the answer is no snapshot of this login, or a list in it breaks the interface. The
 * interface does not say which fields are required, so a missing one is null; a login that is there
 * and differs would be another client's account.
 */
export function toSession(
  body: unknown,
  login: string,
  unit: TimeUnit,
  inexact: InexactFigures = { count: 0 },
): Session | null {
  if (!isRow(body)) return null;
  const named = body.login;
  if (named !== undefined && named !== null && String(named) !== login) return null;
  const positions = body.positions == null ? null : toPositions(body.positions, unit, inexact);
  const orders = body.orders == null ? null : toOrders(body.orders, unit, inexact);
  if (positions === null && body.positions != null) return null;
  if (orders === null && body.orders != null) return null;
  return {
    login,
    group: read.text(body.group),
    server: read.text(body.server),
    currency: read.text(body.currency),
    balance: read.figure(body.balance, inexact),
    credit: read.figure(body.credit, inexact),
    equity: read.figure(body.equity, inexact),
    storage: read.figure(body.storage, inexact),
    assets: read.figure(body.assets, inexact),
    prevEquity: read.figure(body.prevEquity, inexact),
    prevBalance: read.figure(body.prevBalance, inexact),
    leverage: read.figure(body.leverage, inexact),
    invested: read.figure(body.Invested, inexact),
    profits: read.figure(body.Profits, inexact),
    kycStatus: read.text(body.kyc_status),
    createdAt: read.instant(body.createdAt, unit),
    access: toAccess(body.access),
    positions: positions && inSnapshot(positions),
    orders,
  };
}

function inSnapshot(rows: readonly Position[]): SnapshotPositions {
  return { ids: rows.map(({ id }) => id), units: rows.map(({ units }) => units), rows };
}

function toAccess(value: unknown): AccountAccess | null {
  if (!isRow(value)) return null;
  return {
    id: read.text(value.id),
    name: read.text(value.name),
    currency: read.text(value.currency),
    currencyDigits: read.integer(value.currencyDigits),
    isHedged: read.flag(value.isHedged),
    noPl: read.flag(value.noPl),
  };
}
