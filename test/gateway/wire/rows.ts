import { isDeepStrictEqual } from 'node:util';
import { HOURS, INSTRUMENT, SWAP } from '../../../src/gateway/operations/get-all-tickers.ts';
import { ACCESS, SESSION } from '../../../src/gateway/operations/get-session.ts';
import { ORDER, POSITION } from '../../../src/gateway/operations/holdings.ts';

/**
 * The values of one row of each kind by the tables' names, with every field of the gateway's interface; and the rows on the
 * wire, with changes. If possible, no two fields have the same value.
 */
export const instrumentValues = {
  id: 'AAPL',
  symbol: 'AAPL',
  logo: 'https://example.com/aapl.png',
  name: 'Apple',
  delayed: false,
  description: 'Apple Inc.',
  sharia: true,
  shariaStatus: 'COMPLIANT',
  leverage: 20,
  pdt: true,
  digits: 2,
  session: ['09:30-16:00'],
  quotes: ['04:00-20:00'],
  tradingHours: {
    timezone: 'America/New_York',
    regular: ['09:30-16:00'],
    preMarket: ['04:00-09:30'],
    postMarket: ['16:00-20:00'],
    overnight: [],
    otherExtended: ['sat'],
  },
  sector: 4,
  industry: 401,
  mode: 3,
  calc: 1,
  swap: { long: -1.5, short: 0.25, mode: 5, tick: 0.01 },
  min: 0.1,
  max: 1_000,
  step: 0.05,
  limit: 50_000,
  mCurrency: 'USD',
  pCurrency: 'EUR',
  mFx: 'USDUSD',
  pFx: 'EURUSD',
  access: ['standard-usd', 'pro-usd'],
} as const;
export const instrumentRow = instrumentWith({});

export const positionValues = {
  id: 'p-1',
  symbol: 'AAPL',
  logo: 'https://example.com/aapl.png',
  delayed: false,
  sharia: true,
  digits: 2,
  name: 'Apple',
  units: 1.5,
  priceOpen: 190.25,
  priceCurrent: 191.5,
  createdAt: 1_735_689_600_000,
  updatedAt: 1_735_689_660_000,
  leverage: 20,
  rateMargin: 1.01,
  rateProfit: 1.02,
  side: true,
  stopLoss: 180,
  takeProfit: 200,
  storage: -0.75,
  comment: 'a note',
  profit: 1.875,
  invested: 14.27,
} as const;
export const positionRow = POSITION.toWire(positionValues);

export const orderValues = {
  id: 'o-1',
  symbol: 'MSFT',
  logo: 'https://example.com/msft.png',
  name: 'Microsoft',
  units: 2.5,
  digits: 3,
  state: 1,
  delayed: true,
  sharia: false,
  priceOpen: 400.5,
  priceCurrent: 410.25,
  leverage: 10,
  createdAt: 1_735_689_600,
  updatedAt: 1_735_689_660,
  rateMargin: 1.03,
  side: false,
  kind: true,
  stopLoss: 0,
  takeProfit: 390,
  comment: '',
  invested: 100.1,
  useMargin: true,
} as const;
export const orderRow = ORDER.toWire(orderValues);

export const sessionValues = {
  login: 700001,
  balance: 50_000.5,
  credit: 500,
  storage: -1.25,
  assets: 3_000,
  prevEquity: 49_000,
  prevBalance: 48_000,
  leverage: 100,
  group: 'standard-usd',
  server: 'Demo-1',
  createdAt: 1_735_689_600,
  kycStatus: 'APPROVED',
  equity: 50_501,
  invested: 2_900,
  profits: 100.5,
  access: {
    id: 'usr_1',
    name: 'Demo',
    currency: 'USD',
    currencyDigits: 2,
    isHedged: true,
    noPl: false,
  },
  currency: 'USD',
} as const;
export const sessionRow = sessionWith({ positions: [positionRow], orders: [orderRow] });

/** A row on the wire. The changes have the tables' names, and may break the interface; undefined leaves a field out. */
export function instrumentWith(change: Change) {
  const { tradingHours, swap } = instrumentValues;
  const nested = { tradingHours: HOURS.toWire(tradingHours), swap: SWAP.toWire(swap) };
  // The id is the symbol: both have one name on the wire.
  const id = ('id' in change ? change.id : instrumentValues.id) as string;
  return INSTRUMENT.toWire({ ...instrumentValues, ...nested, ...change, id, symbol: id });
}

export function positionWith(change: Change) {
  return POSITION.toWire({ ...positionValues, ...change });
}

export function sessionWith(change: Change) {
  const access = ACCESS.toWire(sessionValues.access);
  const lists = { positions: [], orders: [] };
  return SESSION.toWire({ ...sessionValues, access, ...lists, ...change });
}

type Change = Readonly<Record<string, unknown>>;

/** Values of many types, each with its name. */
const WRONG_VALUES: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['null', null],
  ['a string', 'x'],
  ['a number', 7],
  ['a boolean', true],
  ['an object', { valueOf: 1 }],
  ['a list', [1]],
  ['a list of strings', ['x']],
  ['Infinity', JSON.parse('1e309')],
  ['-Infinity', JSON.parse('-1e309')],
];

/** The wrong values for a field: those of another type than its right value. */
export function wrongFor(right: unknown): readonly (readonly [string, unknown])[] {
  return WRONG_VALUES.filter(([, wrong]) => kindOf(wrong) !== kindOf(right));
}

/** The names of the properties of `found` that differ from `right`. Throws if such a property is not null. */
export function lostOf(
  right: object | null | undefined,
  found: object | null | undefined,
): string[] {
  const lost = Object.entries(found ?? {}).filter(
    ([name, value]) => !isDeepStrictEqual(value, (right as Record<string, unknown>)[name]),
  );
  for (const [name, value] of lost) if (value !== null) throw new Error(`${name} is ${value}`);
  return lost.map(([name]) => name);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return value.every((one) => typeof one === 'string') ? 'texts' : 'list';
  if (value === null) return 'null';
  if (value === Infinity || value === -Infinity) return 'infinite';
  return typeof value;
}
