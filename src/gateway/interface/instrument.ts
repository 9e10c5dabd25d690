import type { Swap, TradingHours } from '../model.ts';
import type { WireInstrument } from '../wire/instrument.ts';
import {
  boolean,
  type FieldShape,
  filledString,
  type ListShape,
  number,
  type Shape,
  string,
  wholeNumber,
} from './shape.ts';

type Fields<T> = { readonly [Name in keyof Required<T>]: FieldShape };

const strings: ListShape = { kind: 'list', of: string, wrong: 'row' };

/** An instrument that breaks its table is left out of the catalog. */
function required(shape: Shape): FieldShape {
  return { shape, missing: 'row', wrong: 'row' };
}

function optional(shape: Shape): FieldShape {
  return { shape, missing: 'nothing', wrong: 'row' };
}

const TRADING_HOURS: Fields<TradingHours> = {
  timezone: required(string),
  regular: required(strings),
  preMarket: required(strings),
  postMarket: required(strings),
  overnight: required(strings),
  otherExtended: required(strings),
};

const SWAP: Fields<Swap> = {
  long: required(number),
  short: required(number),
  mode: required(number),
  tick: required(number),
};

/** The one table of the interface that says which fields are required. */
export const INSTRUMENT: Fields<WireInstrument> = {
  _id: required(filledString),
  logo: required(string),
  friendlyName: required(string),
  delayed: required(boolean),
  desc: required(string),
  sharia: required(boolean),
  shariaStatus: required({ ...string, oneOf: ['QUESTIONABLE', 'COMPLIANT', 'NONCOMPLIANT'] }),
  leverage: required(number),
  pdt: required(boolean),
  digits: required(wholeNumber),
  session: required(strings),
  quotes: required(strings),
  tradingHours: optional({ kind: 'object', fields: TRADING_HOURS }),
  sector: required(number),
  industry: required(number),
  mode: required(number),
  calc: required(number),
  swap: optional({ kind: 'object', fields: SWAP }),
  min: required(number),
  max: required(number),
  step: required(number),
  limit: required(number),
  mCurrency: required(string),
  pCurrency: required(string),
  mFx: optional(string),
  pFx: optional(string),
  access: required(strings),
};
