import { ACCESS, SESSION } from '../interface/answer-shapes.ts';
import { expectedNames } from '../interface/shape.ts';
import { toOrders, toPositions } from './holding.ts';
import * as read from './scalars.ts';
import { isRow, type Reading, type Row, seenRows } from './scalars.ts';

const SESSION_NAMES = expectedNames(SESSION);
const ACCESS_NAMES = expectedNames(ACCESS);

/**
 * Whether the answer is a snapshot of this login: one that is there and differs is another client's account. A body with nothing of
 * an account, as a proxy's 200 in maintenance, proves no token.
 */
export function isSnapshotOf(login: string, body: unknown): body is Row {
  if (!isRow(body)) return false;
  const named = body.login ?? null;
  if (named === null) return (body.balance ?? body.equity ?? body.group ?? null) !== null;
  return (read.text(named) ?? read.digits(named)) === login;
}

/** The lists of a snapshot that are read already, of which its body has no row; null where one breaks the interface. */
export interface ReadLists {
  readonly positions?: ReturnType<typeof toPositions> | undefined;
  readonly orders?: ReturnType<typeof toOrders> | undefined;
}

/** Null where it is no snapshot of this login, or a list breaks the interface, which requires no field: a missing one is null. */
export function toSession(body: unknown, login: string, reading: Reading, lists: ReadLists = {}) {
  if (!isSnapshotOf(login, body)) return null;
  seenRows(reading, '', SESSION_NAMES).add(body);
  const {
    positions = body.positions == null ? null : toPositions(body.positions, reading, 'positions.'),
    orders = body.orders == null ? null : toOrders(body.orders, reading),
  } = lists;
  if (positions === null && body.positions != null) return null;
  if (orders === null && body.orders != null) return null;
  return {
    login,
    group: read.text(body.group),
    server: read.text(body.server),
    currency: read.text(body.currency),
    balance: read.figure(body.balance, reading),
    credit: read.figure(body.credit, reading),
    equity: read.figure(body.equity, reading),
    storage: read.figure(body.storage, reading),
    assets: read.figure(body.assets, reading),
    prevEquity: read.figure(body.prevEquity, reading),
    prevBalance: read.figure(body.prevBalance, reading),
    leverage: read.figure(body.leverage, reading),
    invested: read.figure(body.Invested, reading),
    profits: read.figure(body.Profits, reading),
    kycStatus: read.text(body.kyc_status),
    createdAt: read.instant(body.createdAt, reading),
    access: toAccess(body.access, reading),
    // Null where the snapshot has no such list; a list is never shortened.
    positions: positions && inSnapshot(positions),
    orders,
  };
}

/** The positions of a snapshot: which they are, and their rows. */
interface SnapshotPositions {
  readonly ids: readonly string[];
  /** Null in a snapshot that is cached: they are most of it, and seldom read. */
  readonly rows: ReturnType<typeof toPositions>;
}

function inSnapshot(rows: NonNullable<SnapshotPositions['rows']>): SnapshotPositions {
  return { ids: rows.map(({ id }) => id), rows };
}

export function toAccess(value: unknown, reading: Reading) {
  if (!isRow(value)) return null;
  seenRows(reading, 'access.', ACCESS_NAMES).add(value);
  return {
    id: read.text(value.id),
    name: read.text(value.name),
    currency: read.text(value.currency),
    currencyDigits: read.integer(value.currencyDigits, reading),
    isHedged: read.flag(value.isHedged),
    noPl: read.flag(value.noPl),
  };
}
