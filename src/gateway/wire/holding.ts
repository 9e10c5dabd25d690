import type { Order, OrderKind, Position, Side } from '../model.ts';
import { flag, instant, integer, isRow, number, type Row, type TimeUnit, text } from './scalars.ts';

/** An open position as the gateway sends it. */
export interface WirePosition {
  id: string;
  symbol: string;
  logo: string;
  delayed: boolean;
  sharia: boolean;
  digits: number;
  friendlyName: string;
  units: number;
  priceOpen: number;
  priceCurrent: number;
  timeCreate: number;
  timeUpdate: number;
  leverage: number;
  rateMargin: number;
  rateProfit: number;
  isBuy: boolean;
  sl: number;
  tp: number;
  storage: number;
  comment: string;
  profit: number;
  invested: number;
}

/** A pending order as the session snapshot holds it. */
export interface WireOrder {
  id: string;
  symbol: string;
  logo: string;
  friendlyName: string;
  units: number;
  digits: number;
  state: number;
  delayed: boolean;
  sharia: boolean;
  priceOpen: number;
  priceCurrent: number;
  leverage: number;
  timeCreate: number;
  timeUpdate: number;
  rateMargin: number;
  isBuy: boolean;
  isLimit: boolean;
  sl: number;
  tp: number;
  comment: string;
  invested: number;
  useMargin: boolean;
}

/**
 * Null where the list is none, or a row has no `id` or `symbol` of its own: a list of somebody's
 * money is whole or it is not an answer.
 */
export function toPositions(list: unknown, unit: TimeUnit): readonly Position[] | null {
  return wholeList(list, (row, identity) => ({
    ...holding(row, identity, unit),
    rateProfit: number(row.rateProfit),
    storage: number(row.storage),
    profit: number(row.profit),
  }));
}

export function toOrders(list: unknown, unit: TimeUnit): readonly Order[] | null {
  return wholeList(list, (row, identity) => ({
    ...holding(row, identity, unit),
    kind: kind(row.isLimit),
    state: number(row.state),
    useMargin: flag(row.useMargin),
  }));
}

interface Identity {
  id: string;
  symbol: string;
}

function wholeList<T>(
  list: unknown,
  map: (row: Row, identity: Identity) => T,
): readonly T[] | null {
  if (!Array.isArray(list)) return null;
  const ids = new Set<string>();
  const mapped: T[] = [];
  for (const row of list) {
    if (!isRow(row)) return null;
    const id = text(row.id);
    const symbol = text(row.symbol);
    // Two rows under one id cannot be told apart by anyone who follows the list.
    if (!id || !symbol || ids.has(id)) return null;
    ids.add(id);
    mapped.push(map(row, { id, symbol }));
  }
  return mapped;
}

function holding(row: Row, { id, symbol }: Identity, unit: TimeUnit) {
  return {
    id,
    symbol,
    side: side(row.isBuy),
    name: text(row.friendlyName),
    logo: text(row.logo),
    delayed: flag(row.delayed),
    sharia: flag(row.sharia),
    digits: integer(row.digits),
    units: number(row.units),
    priceOpen: number(row.priceOpen),
    priceCurrent: number(row.priceCurrent),
    createdAt: instant(row.timeCreate, unit),
    updatedAt: instant(row.timeUpdate, unit),
    leverage: number(row.leverage),
    rateMargin: number(row.rateMargin),
    stopLoss: number(row.sl),
    takeProfit: number(row.tp),
    comment: text(row.comment),
    invested: number(row.invested),
  };
}

function side(isBuy: unknown): Side | null {
  if (typeof isBuy !== 'boolean') return null;
  return isBuy ? 'BUY' : 'SELL';
}

/** The interface names limit orders only; what is not one is taken for a stop order. */
function kind(isLimit: unknown): OrderKind | null {
  if (typeof isLimit !== 'boolean') return null;
  return isLimit ? 'LIMIT' : 'STOP';
}
