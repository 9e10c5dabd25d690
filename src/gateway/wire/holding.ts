import type { Order, OrderKind, Position, Side } from '../model.ts';
import * as read from './scalars.ts';
import { isRow, type Row, type TimeUnit } from './scalars.ts';
import {
  boolean,
  each,
  filledString,
  nullable,
  number,
  object,
  string,
  time,
  vital,
  type Wire,
  wholeNumber,
} from './shape.ts';

const HOLDING = {
  ...each(vital(filledString), 'id', 'symbol'),
  ...each(nullable(boolean), 'delayed', 'sharia', 'isBuy'),
  ...each(nullable(string), 'logo', 'friendlyName', 'comment'),
  digits: nullable(wholeNumber),
  ...each(nullable(number), 'units', 'priceOpen', 'priceCurrent', 'leverage', 'rateMargin'),
  ...each(nullable(number), 'sl', 'tp', 'invested'),
  ...each(nullable(time), 'timeCreate', 'timeUpdate'),
};

/** An open position as the gateway sends it. */
export const POSITION = object({
  ...HOLDING,
  ...each(nullable(number), 'rateProfit', 'storage', 'profit'),
});
export type WirePosition = Wire<typeof POSITION>;

/** A pending order as the session snapshot holds it. */
export const ORDER = object({
  ...HOLDING,
  state: nullable(number),
  ...each(nullable(boolean), 'isLimit', 'useMargin'),
});
export type WireOrder = Wire<typeof ORDER>;

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
    const id = read.text(row.id);
    const symbol = read.text(row.symbol);
    if (!id || !symbol) return null;
    mapped.push(map(row, id, symbol, unit));
  }
  // A client that follows the list cannot distinguish two rows under one id.
  return new Set(mapped.map(({ id }) => id)).size === mapped.length ? mapped : null;
}

/** One literal and nothing copied: this is the hot path, where a moving market has each row read every second. */
function toPosition(row: Row, id: string, symbol: string, unit: TimeUnit): Position {
  return {
    id,
    symbol,
    side: side(row.isBuy),
    name: read.text(row.friendlyName),
    logo: read.text(row.logo),
    delayed: read.flag(row.delayed),
    sharia: read.flag(row.sharia),
    digits: read.integer(row.digits),
    units: read.number(row.units),
    priceOpen: read.number(row.priceOpen),
    priceCurrent: read.number(row.priceCurrent),
    createdAt: read.instant(row.timeCreate, unit),
    updatedAt: read.instant(row.timeUpdate, unit),
    leverage: read.number(row.leverage),
    rateMargin: read.number(row.rateMargin),
    rateProfit: read.number(row.rateProfit),
    stopLoss: read.number(row.sl),
    takeProfit: read.number(row.tp),
    storage: read.number(row.storage),
    comment: read.text(row.comment),
    profit: read.number(row.profit),
    invested: read.number(row.invested),
  };
}

/** Orders come with a snapshot alone, and seldom, so they may copy what they share with positions. */
function toOrder(row: Row, id: string, symbol: string, unit: TimeUnit): Order {
  const { rateProfit: _, storage: __, profit: ___, ...shared } = toPosition(row, id, symbol, unit);
  return {
    ...shared,
    kind: kind(row.isLimit),
    state: read.number(row.state),
    useMargin: read.flag(row.useMargin),
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
