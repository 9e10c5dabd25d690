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
 * Null where the list is none, or a row has no `id` or `symbol` of its own: a list of an account's
 * money is whole or it is not an answer.
 */
export function toPositions(list: unknown, unit: TimeUnit): readonly Position[] | null {
  return wholeList(list, unit, toPosition);
}

export function toOrders(list: unknown, unit: TimeUnit): readonly Order[] | null {
  return wholeList(list, unit, toOrder);
}

function wholeList<T extends { readonly id: string }>(
  list: unknown,
  unit: TimeUnit,
  map: (row: Row, id: string, symbol: string, unit: TimeUnit) => T,
): readonly T[] | null {
  if (!Array.isArray(list)) return null;
  const mapped: T[] = [];
  for (const row of list) {
    if (!isRow(row)) return null;
    const id = text(row.id);
    const symbol = text(row.symbol);
    if (!id || !symbol) return null;
    mapped.push(map(row, id, symbol, unit));
  }
  // A client that follows the list cannot distinguish two rows under one id.
  return haveOwnIds(mapped) ? mapped : null;
}

// For so few rows a pairwise comparison is faster than a set.
const FEW = 32;

function haveOwnIds(rows: readonly { readonly id: string }[]): boolean {
  if (rows.length > FEW) return new Set(rows.map(({ id }) => id)).size === rows.length;
  for (let index = 1; index < rows.length; index += 1) {
    const id = rows[index]?.id;
    for (let before = 0; before < index; before += 1) if (rows[before]?.id === id) return false;
  }
  return true;
}

/** One literal and nothing copied: this is the hot path, where a moving market has each row read every second. */
function toPosition(row: Row, id: string, symbol: string, unit: TimeUnit): Position {
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
    rateProfit: number(row.rateProfit),
    stopLoss: number(row.sl),
    takeProfit: number(row.tp),
    storage: number(row.storage),
    comment: text(row.comment),
    profit: number(row.profit),
    invested: number(row.invested),
  };
}

/** Orders come with a snapshot alone, and seldom, so they may copy what they share with positions. */
function toOrder(row: Row, id: string, symbol: string, unit: TimeUnit): Order {
  const { rateProfit: _, storage: __, profit: ___, ...shared } = toPosition(row, id, symbol, unit);
  return {
    ...shared,
    kind: kind(row.isLimit),
    state: number(row.state),
    useMargin: flag(row.useMargin),
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
