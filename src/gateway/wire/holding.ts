import type { Order, OrderKind, Position, Side } from '../model.ts';
import * as read from './scalars.ts';
import { type Filled, type InexactFigures, isRow, type Row, type TimeUnit } from './scalars.ts';

type Renamed = 'side' | 'name' | 'stopLoss' | 'takeProfit' | 'createdAt' | 'updatedAt';

interface WireNames {
  isBuy: boolean;
  friendlyName: string;
  sl: number;
  tp: number;
  timeCreate: number;
  timeUpdate: number;
}

/** An open position as the gateway sends it. */
export type WirePosition = Filled<Omit<Position, Renamed>> & WireNames;

/** A pending order as the session snapshot holds it. */
export type WireOrder = Filled<Omit<Order, Renamed | 'kind'>> & WireNames & { isLimit: boolean };

/**
 * Null where the list is none, or a row has no `id` or `symbol` of its own: a list of an account's
 * money is whole or it is not an answer.
 */
export function toPositions(
  list: unknown,
  unit: TimeUnit,
  inexact: InexactFigures = { count: 0 },
): readonly Position[] | null {
  return wholeList(list, (row, id, symbol) => toPosition(row, id, symbol, unit, inexact));
}

export function toOrders(
  list: unknown,
  unit: TimeUnit,
  inexact: InexactFigures = { count: 0 },
): readonly Order[] | null {
  return wholeList(list, (row, id, symbol) => toOrder(row, id, symbol, unit, inexact));
}

function wholeList<T extends { readonly id: string }>(
  list: unknown,
  map: (row: Row, id: string, symbol: string) => T,
): readonly T[] | null {
  if (!Array.isArray(list)) return null;
  const mapped: T[] = [];
  for (const row of list) {
    if (!isRow(row)) return null;
    const id = read.text(row.id);
    const symbol = read.text(row.symbol);
    if (!id || !symbol) return null;
    mapped.push(map(row, id, symbol));
  }
  // A client that follows the list cannot distinguish two rows under one id.
  return new Set(mapped.map(({ id }) => id)).size === mapped.length ? mapped : null;
}

/** One literal and nothing copied: this is the hot path, where a moving market has each row read every second. */
function toPosition(
  row: Row,
  id: string,
  symbol: string,
  unit: TimeUnit,
  inexact: InexactFigures,
): Position {
  return {
    id,
    symbol,
    side: side(row.isBuy),
    name: read.text(row.friendlyName),
    logo: read.text(row.logo),
    delayed: read.flag(row.delayed),
    sharia: read.flag(row.sharia),
    digits: read.integer(row.digits),
    units: read.figure(row.units, inexact),
    priceOpen: read.figure(row.priceOpen, inexact),
    priceCurrent: read.figure(row.priceCurrent, inexact),
    createdAt: read.instant(row.timeCreate, unit),
    updatedAt: read.instant(row.timeUpdate, unit),
    leverage: read.figure(row.leverage, inexact),
    rateMargin: read.figure(row.rateMargin, inexact),
    rateProfit: read.figure(row.rateProfit, inexact),
    stopLoss: read.figure(row.sl, inexact),
    takeProfit: read.figure(row.tp, inexact),
    storage: read.figure(row.storage, inexact),
    comment: read.text(row.comment),
    profit: read.figure(row.profit, inexact),
    invested: read.figure(row.invested, inexact),
  };
}

/** Orders come with a snapshot alone, and seldom, so they may copy what they share with positions. */
function toOrder(
  row: Row,
  id: string,
  symbol: string,
  unit: TimeUnit,
  inexact: InexactFigures,
): Order {
  const {
    rateProfit: _,
    storage: __,
    profit: ___,
    ...shared
  } = toPosition(row, id, symbol, unit, inexact);
  return {
    ...shared,
    kind: kind(row.isLimit),
    state: read.figure(row.state, inexact),
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
