import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../operations.ts';
import type { WireOrder, WirePosition } from '../wire/holding.ts';
import type { WireSession } from '../wire/session.ts';
import { INSTRUMENT } from './instrument.ts';
import {
  boolean,
  type FieldShape,
  filledString,
  nullable,
  number,
  type Shape,
  string,
  time,
  vital,
  wholeNumber,
  wholeOrNone,
} from './shape.ts';

type Rows = typeof OPERATIONS;

/** The operations that change nothing. */
export type ReadName = {
  [Name in OperationName]: Rows[Name] extends { effect: 'read' } ? Name : never;
}[OperationName];

export const READ_NAMES = OPERATION_NAMES.filter(
  (name): name is ReadName => OPERATIONS[name].effect === 'read',
);

type Fields<T> = { readonly [Name in keyof Required<T>]: FieldShape };

const POSITION: Fields<WirePosition> = {
  id: vital(filledString),
  symbol: vital(filledString),
  logo: nullable(string),
  delayed: nullable(boolean),
  sharia: nullable(boolean),
  digits: nullable(wholeNumber),
  friendlyName: nullable(string),
  units: nullable(number),
  priceOpen: nullable(number),
  priceCurrent: nullable(number),
  timeCreate: nullable(time),
  timeUpdate: nullable(time),
  leverage: nullable(number),
  rateMargin: nullable(number),
  rateProfit: nullable(number),
  isBuy: nullable(boolean),
  sl: nullable(number),
  tp: nullable(number),
  storage: nullable(number),
  comment: nullable(string),
  profit: nullable(number),
  invested: nullable(number),
};

const ORDER: Fields<WireOrder> = {
  id: vital(filledString),
  symbol: vital(filledString),
  logo: nullable(string),
  friendlyName: nullable(string),
  units: nullable(number),
  digits: nullable(wholeNumber),
  state: nullable(number),
  delayed: nullable(boolean),
  sharia: nullable(boolean),
  priceOpen: nullable(number),
  priceCurrent: nullable(number),
  leverage: nullable(number),
  timeCreate: nullable(time),
  timeUpdate: nullable(time),
  rateMargin: nullable(number),
  isBuy: nullable(boolean),
  isLimit: nullable(boolean),
  sl: nullable(number),
  tp: nullable(number),
  comment: nullable(string),
  invested: nullable(number),
  useMargin: nullable(boolean),
};

const ACCESS: Fields<WireSession['access']> = {
  id: nullable(string),
  name: nullable(string),
  currency: nullable(string),
  currencyDigits: nullable(wholeNumber),
  isHedged: nullable(boolean),
  noPl: nullable(boolean),
};

const SESSION: Fields<WireSession> = {
  // A login of either type is compared with the token's.
  login: { shape: number, missing: 'nothing', wrong: 'nothing' },
  balance: nullable(number),
  credit: nullable(number),
  storage: nullable(number),
  assets: nullable(number),
  prevEquity: nullable(number),
  prevBalance: nullable(number),
  leverage: nullable(number),
  group: nullable(string),
  server: nullable(string),
  createdAt: nullable(time),
  kyc_status: nullable(string),
  equity: nullable(number),
  Invested: nullable(number),
  Profits: nullable(number),
  access: nullable(object(ACCESS)),
  positions: wholeOrNone(wholeList(object(POSITION))),
  orders: wholeOrNone(wholeList(object(ORDER))),
  currency: nullable(string),
};

const WITHDRAWAL_METHOD = {
  title: nullable(string),
  icon: nullable(string),
  type: nullable(string),
  crmType: nullable(string),
  id: nullable(number),
  status: nullable(string),
  subtitle: nullable(string),
};

/**
 * The answers with status 200, field by field, each with what the service loses where the field differs. The
 * readers in `wire/` drop or null such fields silently; this says what the interface describes.
 */
export const ANSWER_SHAPES: Readonly<Record<ReadName | 'login', Shape>> = {
  getAllTickers: { kind: 'list', of: object(INSTRUMENT), wrong: 'row' },
  getSession: object(SESSION),
  getWithdrawalMethods: wholeList(wholeList(object(WITHDRAWAL_METHOD))),
  getOpenPositions: object({ positions: vital(wholeList(object(POSITION))) }),
  getCustomerId: object({ customerId: vital(string) }),
  login: object({
    access_token: vital(filledString),
    passkey: nullable(boolean),
    refresh_token: nullable(string),
  }),
};

function object(fields: Readonly<Record<string, FieldShape>>): Shape {
  return { kind: 'object', fields };
}

/** A list of an account's own is whole, or it is no answer. */
function wholeList(of: Shape): Shape {
  return { kind: 'list', of, wrong: 'answer' };
}
