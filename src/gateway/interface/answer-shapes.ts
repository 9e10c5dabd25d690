import { OPERATION_NAMES, OPERATIONS, type OperationName, type ReadName } from '../operations.ts';
import { READS } from '../wire/reads.ts';
import { readingIn } from '../wire/scalars.ts';
import { shapeOf } from './described-shape.ts';
import {
  boolean,
  each,
  filledString,
  nullable,
  number,
  object,
  optional,
  required,
  type Shape,
  string,
  time,
  vital,
  wholeList,
  wholeNumber,
  wholeOrNone,
} from './shape.ts';

const strings = { kind: 'list', of: string, wrong: 'row' } as const;

const HOURS = object({
  timezone: required(string),
  ...each(required(strings), 'regular', 'preMarket', 'postMarket', 'overnight', 'otherExtended'),
});
const SWAP = object(each(required(number), 'long', 'short', 'mode', 'tick'));

/** An instrument: the one table of the interface that says which fields are required. Rows are read by it as well. */
export const INSTRUMENT = object({
  _id: required(filledString),
  ...each(required(string), 'logo', 'friendlyName', 'desc', 'mCurrency', 'pCurrency'),
  ...each(required(boolean), 'delayed', 'sharia', 'pdt'),
  // A word that the interface did not have when this was written is null.
  shariaStatus: required({ ...string, oneOf: ['QUESTIONABLE', 'COMPLIANT', 'NONCOMPLIANT'] }),
  ...each(required(number), 'leverage', 'sector', 'industry', 'mode', 'calc'),
  ...each(required(number), 'min', 'max', 'step', 'limit'),
  digits: required(wholeNumber),
  ...each(required(strings), 'session', 'quotes', 'access'),
  tradingHours: optional(HOURS),
  swap: optional(SWAP),
  ...each(optional(string), 'mFx', 'pFx'),
});

const HOLDING = {
  ...each(vital(filledString), 'id', 'symbol'),
  ...each(nullable(boolean), 'delayed', 'sharia', 'isBuy'),
  ...each(nullable(string), 'logo', 'friendlyName', 'comment'),
  digits: nullable(wholeNumber),
  ...each(nullable(number), 'units', 'priceOpen', 'priceCurrent', 'leverage', 'rateMargin'),
  ...each(nullable(number), 'sl', 'tp', 'invested'),
  ...each(nullable(time), 'timeCreate', 'timeUpdate'),
};

export const POSITION = object({
  ...HOLDING,
  ...each(nullable(number), 'rateProfit', 'storage', 'profit'),
});

export const ORDER = object({
  ...HOLDING,
  state: nullable(number),
  ...each(nullable(boolean), 'isLimit', 'useMargin'),
});

export const ACCESS = object({
  ...each(nullable(string), 'id', 'name', 'currency'),
  currencyDigits: nullable(wholeNumber),
  ...each(nullable(boolean), 'isHedged', 'noPl'),
});

export const SESSION = object({
  // A login of either type is compared with the token's.
  login: { shape: number, missing: 'nothing', wrong: 'nothing' },
  ...each(nullable(number), 'balance', 'credit', 'storage', 'assets', 'prevEquity', 'prevBalance'),
  ...each(nullable(number), 'leverage', 'equity', 'Invested', 'Profits'),
  ...each(nullable(string), 'group', 'server', 'kyc_status', 'currency'),
  createdAt: nullable(time),
  access: nullable(ACCESS),
  positions: wholeOrNone(wholeList(POSITION)),
  orders: wholeOrNone(wholeList(ORDER)),
});

/** Nothing in the answer to an order is guaranteed; without `success` its outcome is unknown. */
const SUBMITTED: Shape = object({
  success: vital(boolean),
  // Numbers are read as well.
  orderId: { shape: string, missing: 'value', wrong: 'nothing' },
  ...each({ shape: string, missing: 'nothing', wrong: 'value' }, 'err', 'message'),
});

const ACKNOWLEDGED: Shape = object({ success: vital(boolean) });

const WRITTEN = Object.fromEntries(
  OPERATION_NAMES.filter((name) => OPERATIONS[name].effect !== 'read').map((name) => [
    name,
    OPERATIONS[name].effect === 'order' ? SUBMITTED : ACKNOWLEDGED,
  ]),
) as Record<Exclude<OperationName, ReadName>, Shape>;

const READ_BY_DESCRIPTION = Object.fromEntries(
  Object.values(READS).map(({ operation, description, map }) => {
    const isRead = (body: unknown) => map(body, readingIn('auto')) !== null;
    return [operation, shapeOf(description, isRead)];
  }),
) as Record<keyof typeof READS, Shape>;

/**
 * The answers with status 200, field by field, each with what the service loses where the field differs. The
 * readers in `gateway/wire/` drop or null such fields silently; this says what the interface describes. What is read by a
 * description is compared with the same one.
 */
export const ANSWER_SHAPES: Readonly<Record<OperationName, Shape>> = {
  ...WRITTEN,
  getAllTickers: { kind: 'list', of: INSTRUMENT, wrong: 'row' },
  getSession: SESSION,
  ...READ_BY_DESCRIPTION,
  getOpenPositions: object({ positions: vital(wholeList(POSITION)) }),
  login: object({
    access_token: vital(filledString),
    passkey: nullable(boolean),
    refresh_token: nullable(string),
  }),
};
