import { setImmediate } from 'node:timers/promises';
import { decimal, isExact, isRow, type Reading, type Row, readingIn } from './scalars.ts';

const CURRENCIES = ['mCurrency', 'pCurrency'] as const;
const TEXTS = ['_id', 'logo', 'friendlyName', 'desc', 'shariaStatus', ...CURRENCIES] as const;
const FLAGS = ['delayed', 'sharia', 'pdt'] as const;
const CODES = ['sector', 'industry', 'mode', 'calc'] as const;
const FIGURES = [...CODES, 'leverage', 'min', 'max', 'step', 'limit'] as const;
const LISTS = ['session', 'quotes', 'access'] as const;
const HOURS = ['regular', 'preMarket', 'postMarket', 'overnight', 'otherExtended'] as const;
const RATES = ['long', 'short', 'mode', 'tick'] as const;

type Fields<Names extends readonly string[], T> = { [Name in Names[number]]: T };

type Optional<T> = T | null | undefined;

/** An instrument as the gateway sends it. An optional property may as well be null, which is how many serializers write it. */
export type WireInstrument = Fields<typeof TEXTS, string> &
  Fields<typeof FLAGS, boolean> &
  Fields<typeof FIGURES, number> &
  Fields<typeof LISTS, readonly string[]> & {
    digits: number;
    tradingHours?: Optional<TradingHours>;
    swap?: Optional<Swap>;
    mFx?: Optional<string>;
    pFx?: Optional<string>;
  };

export type TradingHours = Readonly<Fields<typeof HOURS, readonly string[]> & { timezone: string }>;
export type Swap = Readonly<Fields<typeof RATES, number>>;
type Instrument = Readonly<NonNullable<ReturnType<typeof toInstrument>>>;

/** Null where the row breaks the interface's table: such an instrument is left out of the catalog. */
export function toInstrument(given: unknown, reading: Reading = readingIn('auto')) {
  if (!isRow(given)) return null;
  const row = isWireInstrument(given) ? given : withNumbers(given, reading);
  if (row === null) return null;
  // Field by field, so that nothing the interface does not name comes along.
  return {
    id: row._id,
    symbol: row._id,
    name: row.friendlyName,
    description: row.desc,
    logo: row.logo,
    delayed: row.delayed,
    sharia: row.sharia,
    /** Null where the gateway has a word for it that is not known here. */
    shariaStatus: toShariaStatus(row.shariaStatus),
    leverage: row.leverage,
    pdt: row.pdt,
    digits: row.digits,
    session: row.session,
    quotes: row.quotes,
    tradingHours: row.tradingHours == null ? null : toTradingHours(row.tradingHours),
    sector: row.sector,
    industry: row.industry,
    mode: row.mode,
    calc: row.calc,
    swap: row.swap == null ? null : toSwap(row.swap),
    min: row.min,
    max: row.max,
    step: row.step,
    limit: row.limit,
    mCurrency: row.mCurrency,
    pCurrency: row.pCurrency,
    mFx: row.mFx ?? null,
    pFx: row.pFx ?? null,
    access: row.access,
  };
}

/** The row that is read as this instrument. */
export function toWire({ id, symbol, name, description, shariaStatus, ...same }: Instrument) {
  const words = { friendlyName: name, desc: description, shariaStatus: shariaStatus ?? '' };
  return { _id: id, ...words, ...same };
}

/** The interface's one table that says which fields are required. */
function isWireInstrument(row: Row): row is Row & WireInstrument {
  return (
    hasAll(row, TEXTS, isText) &&
    row._id !== '' &&
    hasAll(row, FLAGS, isFlag) &&
    hasAll(row, FIGURES, isNumber) &&
    isCount(row.digits) &&
    hasAll(row, LISTS, isTexts) &&
    (row.tradingHours == null || isTradingHours(row.tradingHours)) &&
    (row.swap == null || isSwap(row.swap)) &&
    (row.mFx == null || isText(row.mFx)) &&
    (row.pFx == null || isText(row.pFx))
  );
}

/** The instrument with numbers for its decimals in texts; null where it breaks the table all the same. */
function withNumbers(row: Row, reading: Reading) {
  const own = numbersIn(row, [...FIGURES, 'digits'], reading);
  const whole = isRow(row.swap) ? { ...own, swap: numbersIn(row.swap, RATES, reading) } : own;
  return isWireInstrument(whole) ? whole : null;
}

/** Null would cost the row, so what no double carries is the nearest one. */
function numbersIn(row: Row, names: readonly string[], reading: Reading): Row {
  const read: Record<string, unknown> = { ...row };
  for (const name of names) {
    const value = row[name];
    const isDecimal = typeof value === 'string' && decimal(value, reading) !== null;
    if (isDecimal) read[name] = Number(value);
  }
  return read;
}

function hasAll(row: Row, names: readonly string[], fits: (value: unknown) => boolean): boolean {
  for (const name of names) if (!fits(row[name])) return false;
  return true;
}

function isTradingHours(value: unknown): value is TradingHours {
  return isRow(value) && isText(value.timezone) && hasAll(value, HOURS, isTexts);
}

function toTradingHours(hours: TradingHours): TradingHours {
  const { timezone, regular, preMarket, postMarket, overnight, otherExtended } = hours;
  return { timezone, regular, preMarket, postMarket, overnight, otherExtended };
}

function isSwap(value: unknown): value is Swap {
  return isRow(value) && hasAll(value, RATES, isNumber);
}

function toSwap({ long, short, mode, tick }: Swap): Swap {
  return { long, short, mode, tick };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

/** JSON.parse reads 1e999 as Infinity, which no answer can carry on. */
function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

/** A number in the interface, a count of decimals by its meaning; the schema serves it as Int. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value;
}

/** A word that is new to this service must not cost the instrument. */
function toShariaStatus(word: string): 'QUESTIONABLE' | 'COMPLIANT' | 'NONCOMPLIANT' | null {
  return word === 'QUESTIONABLE' || word === 'COMPLIANT' || word === 'NONCOMPLIANT' ? word : null;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

// About a millisecond of parsing and checking, then a yield to the event loop for other requests.
const ROWS_AT_A_TIME = 200;

/** One row that breaks the interface must not cost the catalog; of rows with one id the first counts. */
export async function toInstruments(rows: Iterable<unknown>) {
  const byId = new Map<string, Instrument>();
  const reading = readingIn('auto');
  let [total, skipped] = [0, 0];
  for (const row of rows) {
    const instrument = toInstrument(row, reading);
    if (instrument === null) skipped += 1;
    else if (!byId.has(instrument.id)) {
      byId.set(instrument.id, instrument);
      reading.inexactFigures += inexactIn(instrument);
    }
    total += 1;
    if (total % ROWS_AT_A_TIME === 0) await setImmediate();
  }
  const instruments = [...byId.values()];
  const unknownValues = instruments.filter(({ shariaStatus }) => shariaStatus === null).length;
  return {
    instruments,
    /** Rows that broke the interface's table and were left out. */
    skipped,
    /** Values of enums that are not known here. */
    unknownValues,
    /** Its inexact figures are the nearest double, because null would cost the row. */
    reading,
    total,
  };
}

function inexactIn(instrument: Instrument): number {
  const { swap } = instrument;
  const own = FIGURES.map((name) => instrument[name]);
  const all = swap === null ? own : [...own, swap.long, swap.short, swap.mode, swap.tick];
  return all.filter((figure) => !isExact(figure)).length;
}
