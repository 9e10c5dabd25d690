import { setImmediate } from 'node:timers/promises';
import { INSTRUMENT } from '../interface/answer-shapes.ts';
import { fitting } from '../interface/fitting.ts';
import { expectedNames, type ObjectShape, type ValueOf } from '../interface/shape.ts';
import { decimal, isExact, isRow, type Reading, type Row, readingIn, seenRows } from './scalars.ts';

/** An instrument as the gateway sends it. An optional property may as well be null, which is how many serializers write it. */
export type WireInstrument = ValueOf<typeof INSTRUMENT>;
export type TradingHours = Readonly<NonNullable<WireInstrument['tradingHours']>>;
export type Swap = Readonly<NonNullable<WireInstrument['swap']>>;
type Instrument = Readonly<NonNullable<ReturnType<typeof toInstrument>>>;

const isInstrument = fitting(INSTRUMENT);
const NAMES = expectedNames(INSTRUMENT);

/** Null where the row breaks the interface's table: such an instrument is left out of the catalog. */
export function toInstrument(given: unknown, reading: Reading = readingIn('auto')) {
  if (!isRow(given)) return null;
  const whole = isInstrument(given) ? given : withNumbers(INSTRUMENT, given, reading);
  if (whole !== given && !isInstrument(whole)) return null;
  const row = whole as WireInstrument;
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

/** The row with numbers for its decimals in texts. Null would cost it, so what no double carries is the nearest one. */
function withNumbers({ fields }: ObjectShape, row: Row, reading: Reading): Row {
  const read: Record<string, unknown> = { ...row };
  for (const [name, { shape }] of Object.entries(fields)) {
    const value = row[name];
    if (shape.kind === 'object' && isRow(value)) read[name] = withNumbers(shape, value, reading);
    const isNumber = shape.kind === 'number' && typeof value === 'string';
    if (isNumber && decimal(value, reading) !== null) read[name] = Number(value);
  }
  return read;
}

function toTradingHours(hours: TradingHours): TradingHours {
  const { timezone, regular, preMarket, postMarket, overnight, otherExtended } = hours;
  return { timezone, regular, preMarket, postMarket, overnight, otherExtended };
}

function toSwap({ long, short, mode, tick }: Swap): Swap {
  return { long, short, mode, tick };
}

/** A word that is new to this service must not cost the instrument. */
function toShariaStatus(word: string): 'QUESTIONABLE' | 'COMPLIANT' | 'NONCOMPLIANT' | null {
  return word === 'QUESTIONABLE' || word === 'COMPLIANT' || word === 'NONCOMPLIANT' ? word : null;
}

// About a millisecond of parsing and checking, then a yield to the event loop for other requests.
const ROWS_AT_A_TIME = 200;

/** One row that breaks the interface must not cost the catalog; of rows with one id the first counts. */
export async function toInstruments(rows: Iterable<unknown>) {
  const byId = new Map<string, Instrument>();
  const reading = readingIn('auto');
  const seen = seenRows(reading, '', NAMES);
  let [total, skipped] = [0, 0];
  for (const row of rows) {
    if (isRow(row)) seen.add(row);
    const instrument = toInstrument(row, reading);
    if (instrument === null) skipped += 1;
    else if (!byId.has(instrument.id)) {
      byId.set(instrument.id, instrument);
      reading.inexactFigures += inexactIn(instrument) + inexactIn(instrument.swap);
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

function inexactIn(row: object | null): number {
  let count = 0;
  for (const value of Object.values(row ?? {})) {
    if (typeof value === 'number' && !isExact(value)) count += 1;
  }
  return count;
}
