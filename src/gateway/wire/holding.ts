import { growingLru } from '../../../lib/growing-lru.ts';
import { ORDER, POSITION } from '../interface/answer-shapes.ts';
import { expectedNames } from '../interface/shape.ts';
import * as read from './scalars.ts';
import { isRow, type Reading, type Row, seenRows } from './scalars.ts';
import type { SeenRows } from './seen-rows.ts';

type Position = Readonly<ReturnType<typeof toPosition>>;
type Order = Readonly<ReturnType<typeof toOrder>>;

/**
 * Null where a row has no `id` or `symbol`: a list of an account's money is whole or it is not an answer. `path` is that of the list in
 * the answer, for operators.
 */
export function toPositions(
  list: unknown,
  reading: Reading,
  path = '',
): readonly Position[] | null {
  return wholeList(list, positionsReader(reading, path));
}

const POSITION_NAMES = expectedNames(POSITION);
const ORDER_NAMES = expectedNames(ORDER);

/** The same lists row by row. */
export function positionsReader(reading: Reading, path = '') {
  const seen = seenRows(reading, path, POSITION_NAMES);
  return listReader(seen, (row, id, symbol) => toPosition(row, id, symbol, reading));
}

export function ordersReader(reading: Reading) {
  const seen = seenRows(reading, 'orders.', ORDER_NAMES);
  return listReader(seen, (row, id, symbol) => toOrder(row, id, symbol, reading));
}

export function toOrders(list: unknown, reading: Reading): readonly Order[] | null {
  return wholeList(list, ordersReader(reading));
}

function wholeList<T>(list: unknown, reader: ListReader<T>): readonly T[] | null {
  if (!Array.isArray(list)) return null;
  for (const row of list) reader.add(row);
  return reader.list === undefined ? [] : reader.list;
}

type ListReader<T> = ReturnType<typeof listReader<T>>;

function listReader<T>(seen: SeenRows, map: (row: Row, id: string, symbol: string) => T) {
  const rows: T[] = [];
  const ids = new Set<string>();
  let isWhole = true;
  function push(row: Row): boolean {
    const id = read.text(row.id);
    const symbol = read.text(row.symbol);
    // A client that follows the list cannot distinguish two rows under one id.
    if (!id || !symbol || ids.has(id)) return false;
    ids.add(id);
    rows.push(map(row, id, symbol));
    return true;
  }
  /** Where the answer is none, it is still noted what its rows lack. */
  function add(row: unknown): void {
    if (isRow(row)) seen.add(row);
    isWhole &&= isRow(row) && push(row);
  }
  return {
    add,
    /** Null where a row is missing; undefined where no row came. */
    get list(): readonly T[] | null | undefined {
      if (!isWhole) return null;
      // One that has grown has room for half as many more.
      return rows.length > 0 ? rows.slice() : undefined;
    },
  };
}

/** One literal and nothing copied: this is the hot path, where a moving market has each row read every second. */
export function toPosition(row: Row, id: string, symbol: string, reading: Reading) {
  const texts = instrumentTexts(row, symbol);
  return {
    id,
    symbol: texts.symbol,
    side: side(row.isBuy),
    name: texts.name,
    logo: texts.logo,
    delayed: read.flag(row.delayed),
    sharia: read.flag(row.sharia),
    digits: read.integer(row.digits, reading),
    units: read.figure(row.units, reading),
    priceOpen: read.figure(row.priceOpen, reading),
    priceCurrent: read.figure(row.priceCurrent, reading),
    createdAt: read.instant(row.timeCreate, reading),
    updatedAt: read.instant(row.timeUpdate, reading),
    leverage: read.figure(row.leverage, reading),
    rateMargin: read.figure(row.rateMargin, reading),
    rateProfit: read.figure(row.rateProfit, reading),
    stopLoss: read.figure(row.sl, reading),
    takeProfit: read.figure(row.tp, reading),
    storage: read.figure(row.storage, reading),
    comment: read.text(row.comment),
    profit: read.figure(row.profit, reading),
    invested: read.figure(row.invested, reading),
  };
}

/** The texts of an instrument, as a row has them. */
interface InstrumentTexts {
  readonly symbol: string;
  readonly name: string | null;
  readonly logo: string | null;
}

// A text that is longer is a row's own, so that so many take no more than some megabytes.
const MAX_SHARED_LENGTH = 300;
const SHARED_TEXTS = growingLru<string, InstrumentTexts>({ maxEntries: 10_000, entryBytes: 500 });

/** One copy of equal texts for the rows of all accounts: with its own, each row would take half as much again. */
function instrumentTexts(row: Row, symbol: string): InstrumentTexts {
  const name = read.text(row.friendlyName);
  const logo = read.text(row.logo);
  const known = SHARED_TEXTS.get(symbol);
  if (known !== undefined && known.name === name && known.logo === logo) return known;
  const texts = { symbol, name, logo };
  const length = symbol.length + (name?.length ?? 0) + (logo?.length ?? 0);
  if (length <= MAX_SHARED_LENGTH) SHARED_TEXTS.set(symbol, texts);
  return texts;
}

/**
 * Whether two positions are equal in every field: a change of one missing here would never be emitted. A loop over their names
 * would take ten times as long. Those that a moving market changes come first, so that most comparisons end early.
 */
export function samePosition(a: Position, b: Position): boolean {
  return (
    a === b ||
    (a.priceCurrent === b.priceCurrent &&
      a.profit === b.profit &&
      a.updatedAt === b.updatedAt &&
      a.rateProfit === b.rateProfit &&
      sameBesidesPrices(a, b))
  );
}

/** Whether two positions are equal but for the fields of a tick. */
export function sameBesidesPrices(a: Position, b: Position): boolean {
  return (
    a.storage === b.storage &&
    a.stopLoss === b.stopLoss &&
    a.takeProfit === b.takeProfit &&
    a.units === b.units &&
    a.invested === b.invested &&
    a.rateMargin === b.rateMargin &&
    a.priceOpen === b.priceOpen &&
    a.leverage === b.leverage &&
    a.comment === b.comment &&
    a.side === b.side &&
    a.symbol === b.symbol &&
    a.name === b.name &&
    a.logo === b.logo &&
    a.delayed === b.delayed &&
    a.sharia === b.sharia &&
    a.digits === b.digits &&
    a.createdAt === b.createdAt &&
    a.id === b.id
  );
}

/** Orders come with a snapshot alone, and seldom, so they may copy what they share with positions. */
export function toOrder(row: Row, id: string, symbol: string, reading: Reading) {
  const { rateProfit, storage, profit, ...shared } = toPosition(row, id, symbol, reading);
  return {
    ...shared,
    kind: kind(row.isLimit),
    state: read.figure(row.state, reading),
    useMargin: read.flag(row.useMargin),
  };
}

function side(isBuy: unknown): 'BUY' | 'SELL' | null {
  if (typeof isBuy !== 'boolean') return null;
  return isBuy ? 'BUY' : 'SELL';
}

/** The interface names limit orders only; what is not one is taken for a stop order. */
function kind(isLimit: unknown): 'LIMIT' | 'STOP' | null {
  if (typeof isLimit !== 'boolean') return null;
  return isLimit ? 'LIMIT' : 'STOP';
}
